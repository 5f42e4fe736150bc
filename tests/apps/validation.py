#!/usr/bin/env python3
"""Programs against what is computed here by other means: heat against its decay, obstacle with both bounds against an
active-set method with dense elimination, ocean's waves of permanent form against the equations of Rienecker and Fenton (J.
Fluid Mech. 104 (1981) 119-137) solved by Newton's method. docs/validation.md has what comes out.

    validation.py FOLDER     of spry-heat, spry-obstacle and spry-ocean

Exit status: 0, 1 where something differs, 77 without NumPy."""

import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

PROGRAMS = os.path.abspath(sys.argv[1])
failures = []


def expect(what, value, limit):
    """value is at most limit."""
    print("%-66s %.2e (at most %.1e)" % (what, value, limit))
    if not value <= limit:
        failures.append(what)


def run(name, *words):
    done = subprocess.run([os.path.join(PROGRAMS, "spry-" + name), *map(str, words), "--quiet", "--json"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.args, done.stderr)
        sys.exit(1)
    return json.loads(done.stdout)


# --- heat: u = exp(-2 pi^2 t) sin(pi x) sin(pi y), t = 1/20


def heat():
    errors = []
    for size in (16, 32):
        run("heat", "--size", size, "--grids", 1, "--order", 6, "-o", "heat.npy")
        u = np.load("heat.npy").squeeze()
        x = np.sin(np.pi * np.arange(1, size) / size)
        x = x if u.shape[0] == size - 1 else np.sin(np.pi * np.arange(size + 1) / size)
        exact = np.exp(-2 * np.pi**2 / 20) * np.outer(x, x)
        errors.append(np.abs(u - exact).max() / np.exp(-2 * np.pi**2 / 20))
    # rk4 at nine tenths of the stable step errs as h^8, differences of order 6 as h^6 in the middle, and one order less
    # at the ends: the order between two grids is at least 5
    expect("heat, order 6, 32 intervals: error", errors[1], errors[0] / 2**5)


# --- obstacle: lower <= u <= upper


def laplacian(n):
    """-laplace on n^3 unknowns, x fastest."""
    one = (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)) * (n + 1)**2
    unit = np.eye(n)
    return (np.kron(np.kron(unit, unit), one) + np.kron(np.kron(unit, one), unit) + np.kron(np.kron(one, unit), unit))


def active_set(A, b, lower, upper):
    """Hintermueller, Ito, Kunisch (2003): until the sets stay."""
    side = np.zeros(len(b), int)
    while True:
        u = np.where(side < 0, lower, upper)
        free = side == 0
        u[free] = np.linalg.solve(A[np.ix_(free, free)], b[free] - A[np.ix_(free, ~free)] @ u[~free])
        left = np.where(free, 0, A @ u - b)
        c = A[0, 0]
        new = np.where(left + c * (lower - u) > 0, -1, np.where(left + c * (upper - u) < 0, 1, 0))
        if (new == side).all():
            return u, side
        side = new


def obstacle():
    n = 9
    x = np.arange(1, n + 1) / (n + 1)
    z, y, x = (a.ravel() for a in np.meshgrid(x, x, x, indexing="ij"))
    b = 300 * np.sin(7 * x) * np.cos(5 * y) - 20 * z
    lower, upper = np.where(x < 0.55, -0.2, -0.1), 0.3 - 0.2 * y
    u, side = active_set(laplacian(n), b, lower, upper)
    for method in ("multigrid", "redblack", "richardson"):
        run("obstacle", "steady", "--size", n + 1, "--method", method, "--tol", "1e-13", "-o", "u.npy", "--contact",
            "c.npy", "--force", "300*sin(7*x)*cos(5*y) - 20*z", "--lower", "x < 0.55 ? -0.2 : -0.1", "--upper",
            "0.3 - 0.2*y")
        differ = (np.load("c.npy").ravel() != -side).sum()
        print("obstacle, %s: %d points at the lower bound, %d at the upper, %d free" %
              (method, (side < 0).sum(), (side > 0).sum(), (side == 0).sum()))
        expect("obstacle, %s: points whose contact differs" % method, differ, 0)
        # (1 + 1/8) times both residuals: 1e-13 of the largest b, and rounding
        expect("obstacle, %s: largest difference" % method, np.abs(np.load("u.npy").ravel() - u).max(),
               1.125 * 320 * (1e-13 + len(b) * 2.2e-16))


# --- ocean: waves of permanent form


def rienecker_fenton(height, length, N=24):
    """The speed of a wave without a mean current, depth and gravity 1. Unknowns: the speed in the frame of the wave, B_1
    to B_N, the surface at N + 1 points of half a wave, the flow Q, Bernoulli's R."""
    k = 2 * np.pi / length
    j, m = np.arange(1, N + 1), np.arange(N + 1)
    c, s = np.cos(np.outer(m, j) * np.pi / N), np.sin(np.outer(m, j) * np.pi / N)

    def equations(v, H):
        U, B, eta, Q, R = v[0], v[1:N + 1], v[N + 1:2 * N + 2], v[-2], v[-1]
        sinh = np.sinh(k * np.outer(eta, j)) / np.cosh(k * j)
        cosh = np.cosh(k * np.outer(eta, j)) / np.cosh(k * j)
        stream = -U * eta + (sinh * c) @ B + Q
        along, up = -U + k * (cosh * c) @ (j * B), k * (sinh * s) @ (j * B)
        mean = (eta[0] + eta[-1]) / 2 + eta[1:-1].sum() - N
        return np.concatenate([stream, (along**2 + up**2) / 2 + eta - R, [mean, eta[0] - eta[-1] - H]])

    U = np.sqrt(np.tanh(k) / k)
    steps = 8
    eta = 1 + height / steps / 2 * np.cos(np.pi * m / N)
    v = np.concatenate([[U, height / steps / 2 / U], np.zeros(N - 1), eta, [U, 1 + U * U / 2]])
    before = None
    for step in range(1, steps + 1):
        guess = v if before is None else 2 * v - before
        before, v = v, guess
        for _ in range(40):
            f = equations(v, height * step / steps)
            J = np.empty((len(v), len(v)))
            for i in range(len(v)):  # by complex numbers: exact
                w = v.astype(complex)
                w[i] += 1e-30j
                J[:, i] = equations(w, height * step / steps).imag / 1e-30
            d = np.linalg.solve(J, -f)
            v = v + d
            if np.abs(d).max() < 1e-13:
                break
    return v[0], np.abs(equations(v, height)).max()


def ocean():
    for kh, steepness in ((0.7, 0.02), (1, 0.0502), (1.9, 0.08), (1, 0.09)):
        depth, length = 0.4, 2 * np.pi / kh * 0.4
        speed, left = rienecker_fenton(steepness * length / depth, length / depth)
        with open("wave.txt", "w", encoding="ascii") as file:
            file.write("wave = stream\nlength = %.17g m\ndepth = %g m\nnx = 32\nnz = 8\nwavelength = %.17g m\nheight = %.17g m\n"
                       "gravity = 9.81 m/s^2\nterms = 24\nends = periodic\nstart = wave\nend = 0.001 s\n" %
                       (length, depth, length, steepness * length))
        found = run("ocean", "wave.txt")
        ours = found["wavelength"] / found["period"] / np.sqrt(9.81 * depth)
        print("ocean, kh %g, H/L %g: c / sqrt(g h) %.10f, Rienecker and Fenton's %.10f" % (kh, steepness, ours, speed))
        # cosines beyond the 24th are below 1e-7 of the wave for the steepest of these
        expect("ocean, kh %g, H/L %g: speed" % (kh, steepness), abs(ours / speed - 1), 1e-8)
        expect("  and what is left of the equations here", left, 1e-12)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        heat()
        obstacle()
        ocean()
    for what in failures:
        print("differs:", what)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
