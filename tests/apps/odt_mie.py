#!/usr/bin/env python3
"""How far the scalar model of spry odt is from light: a sphere by the scalar series and by Mie's.

Prints, for each sphere, the rms difference over a camera's aperture of the co-polarised field and of all of it,
relative to the rms field: of linearly polarised light, directions weighted as in the pupil of an aplanatic lens.
The series are held against a published value and against energy first; a failure is an exit state of 1.

    odt_mie.py                                 the table
    odt_mie.py SPRY-ODT INDEX DIAMETER NA      what the program fits to one sphere's holograms by either series

C. F. Bohren, D. R. Huffman, Absorption and Scattering of Light by Small Particles (1983), chapter 4 and appendix A.
"""
import cmath
import math
import struct
import subprocess
import sys
import tempfile


def bessel(x, most):
    """j_n(x), n = 0 ... most, by recurrence from above; x may be complex."""
    last = most + int(abs(x)) + 30
    up, at = 0, 1e-200
    values = [0] * (most + 1)
    for n in range(last, 0, -1):
        up, at = at, (2 * n + 1) / x * at - up
        if abs(at) > 1e200:
            up, at = up * 1e-200, at * 1e-200
            values = [v * 1e-200 for v in values]
        if n - 1 <= most:
            values[n - 1] = at
    scale = cmath.sin(x) / x / values[0]
    return [v * scale for v in values]


def neumann(x, most):
    """y_n(x) by recurrence from below."""
    y = [-math.cos(x) / x, -math.cos(x) / x**2 - math.sin(x) / x]
    for n in range(1, most):
        y.append((2 * n + 1) / x * y[n] - y[n - 1])
    return y


def terms(x):
    return int(x + 4.05 * x ** (1 / 3) + 12)


def slopes(f, x):
    """Derivatives of j_n, y_n or h_n."""
    return [-f[1]] + [f[n - 1] - (n + 1) / x * f[n] for n in range(1, len(f))]


def vector_terms(x, m):
    """a_n, b_n of Mie's series, n from 1."""
    most = terms(x)
    j, inside = bessel(x, most), bessel(m * x, most)
    h = [a + 1j * b for a, b in zip(j, neumann(x, most))]
    dj, dh, di = slopes(j, x), slopes(h, x), slopes(inside, m * x)
    a, b = [], []
    for n in range(1, most + 1):
        pj, ph, pi = j[n] + x * dj[n], h[n] + x * dh[n], inside[n] + m * x * di[n]  # of z f_n(z)
        a.append((m * m * inside[n] * pj - j[n] * pi) / (m * m * inside[n] * ph - h[n] * pi))
        b.append((inside[n] * pj - j[n] * pi) / (inside[n] * ph - h[n] * pi))
    return a, b


def scalar_terms(x, m):
    """The field and its slope are continuous: what the equation of Helmholtz says."""
    most = terms(x)
    j, inside = bessel(x, most), bessel(m * x, most)
    h = [a + 1j * b for a, b in zip(j, neumann(x, most))]
    dj, dh, di = slopes(j, x), slopes(h, x), slopes(inside, m * x)
    return [(j[n] * m * di[n] - dj[n] * inside[n]) / (h[n] * m * di[n] - dh[n] * inside[n]) for n in range(most + 1)]


def vector_amplitudes(a, b, cosine):
    """S1 and S2."""
    before, pi, s1, s2 = 0, 1, 0, 0
    for n in range(1, len(a) + 1):
        tau = n * cosine * pi - (n + 1) * before
        share = (2 * n + 1) / (n * (n + 1))
        s1 += share * (a[n - 1] * pi + b[n - 1] * tau)
        s2 += share * (a[n - 1] * tau + b[n - 1] * pi)
        before, pi = pi, ((2 * n + 1) * cosine * pi - (n + 1) * before) / n
    return s1, s2


def scalar_amplitude(c, cosine):
    before, legendre, s = 0, 1, 0
    for n, term in enumerate(c):
        s += (2 * n + 1) * term * legendre
        before, legendre = legendre, ((2 * n + 1) * cosine * legendre - n * before) / (n + 1)
    return s


def differences(x, m, sine):
    """rms of S2 cos^2 phi + S1 sin^2 phi - S, and of that with (S2 - S1) sin phi cos phi, over the rms of both."""
    steps = 200
    (a, b), c = vector_terms(x, m), scalar_terms(x, m)
    along = across = size = 0
    for k in range(steps):
        p = sine * math.sqrt((k + 0.5) / steps)  # equal areas of the pupil
        cosine = math.sqrt(1 - p * p)
        s1, s2 = vector_amplitudes(a, b, cosine)
        s = scalar_amplitude(c, cosine)
        d1, d2 = s1 - s, s2 - s
        # means over phi: cos^4 and sin^4 3/8, cos^2 sin^2 1/8
        along += 3 / 8 * (abs(d1)**2 + abs(d2)**2) + 1 / 4 * (d1 * d2.conjugate()).real
        across += abs(s2 - s1)**2 / 8
        size += 3 / 8 * (abs(s1)**2 + abs(s2)**2) + 1 / 4 * (s1 * s2.conjugate()).real + abs(s2 - s1)**2 / 8
    return math.sqrt(along / size), math.sqrt((along + across) / size)


def check():
    # Bohren and Huffman, appendix A: a sphere of 0.525 um and 1.55 in air, 0.6328 um
    x = 2 * math.pi * 0.525 / 0.6328
    a, b = vector_terms(x, 1.55)
    extinction = 2 / x**2 * sum((2 * n + 1) * (p + q).real for n, (p, q) in enumerate(zip(a, b), 1))
    scattering = 2 / x**2 * sum((2 * n + 1) * (abs(p)**2 + abs(q)**2) for n, (p, q) in enumerate(zip(a, b), 1))
    assert abs(extinction - 3.10543) < 5e-6, extinction
    assert abs(scattering - extinction) < 1e-12, scattering
    c = scalar_terms(x, 1.55)  # energy: the real part of each term is its square
    assert max(abs(t.real - abs(t)**2) for t in c) < 1e-12
    weak, strong = scalar_terms(1e-2, 1.001), vector_terms(1e-2, 1.001)[0]  # Rayleigh's limit, and that of scalar waves
    assert abs(strong[0] / (-2j / 3 * 1e-6 * (1.001**2 - 1) / (1.001**2 + 2)) - 1) < 1e-3
    assert abs(weak[0] / (-1j / 3 * 1e-6 * (1.001**2 - 1)) - 1) < 1e-3
    for nothing in (differences(5, 1 + 1e-6, 0.01)):  # forward and weak: there is no polarisation to see
        assert nothing < 1e-3, nothing


def fit(program, index, diameter, na):
    """Three views of a sphere in the middle, each with its own polarisation; lengths in um."""
    fluid, wavelength, side, m = 1.33, 0.633, 4 * diameter, 64
    k = 2 * math.pi * fluid / wavelength
    x, ratio = k * diameter / 2, index / fluid
    (a, b), c = vector_terms(x, ratio), scalar_terms(x, ratio)
    reach = int(na / wavelength * side)
    for kind in ("scalar", "vector"):
        waves = []
        for q in range(-reach, reach + 1):
            for p in range(-reach, reach + 1):
                across = 2 * math.pi / side * math.hypot(p, q)
                if across > na / fluid * k:
                    continue
                gamma = math.sqrt(k * k - across * across)
                s1, s2 = vector_amplitudes(a, b, gamma / k)
                share = p * p / (p * p + q * q) if p or q else 1
                s = scalar_amplitude(c, gamma / k) if kind == "scalar" else s2 * share + s1 * (1 - share)
                waves.append((p, q, -2 * math.pi * s / (k * gamma * side * side)))
        turn = [cmath.exp(2j * math.pi * n / m) for n in range(m)]
        picture = [sum(v * turn[(p * (i - m // 2) + q * (j - m // 2)) % m] for p, q, v in waves) for j in range(m) for i in range(m)]
        head = "{'descr': '<c16', 'fortran_order': False, 'shape': (%d, %d), }" % (3 * m, m)
        head += " " * (117 - len(head)) + "\n"
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/mie.npy", "wb") as out:
                out.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode())
                out.write(3 * b"".join(struct.pack("<dd", v.real, v.imag) for v in picture))
            with open(folder + "/mie.txt", "w") as out:
                out.write("wavelength = 0.633 um\nvoxel = 60 nm\nsize = %d\nfluid = 1.33\nindex = %g\ndiameter = %g um\n"
                          "na = %g\nfield = %g um\npixels = %d\nlayer = 6\ntype = c\ntol = 1e-3\n" %
                          (diameter / 0.06 + 12, index, diameter, na, side, m))
            print(kind, flush=True)
            subprocess.run([program, "reconstruct", folder + "/mie.npy", "--config", folder + "/mie.txt", "--fit", "index"], check=True)


def main():
    check()
    if len(sys.argv) == 5:
        return fit(sys.argv[1], *map(float, sys.argv[2:]))
    fluid, wavelength = 1.33, 0.633
    print("%-20s %8s %5s %14s %9s" % ("particle in water", "diameter", "na", "co-polarised %", "whole %"))
    for name, index in (("cell, 1.38", 1.38), ("silica, 1.45", 1.45), ("polystyrene, 1.59", 1.59)):
        for diameter in (0.2, 0.5, 1.0, 2.0):
            for na in (0.55, 0.8):
                along, whole = differences(math.pi * diameter * fluid / wavelength, index / fluid, na / fluid)
                print("%-20s %8.1f %5.2f %14.1f %9.1f" % (name, diameter, na, 100 * along, 100 * whole))


if __name__ == "__main__":
    main()
