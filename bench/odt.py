#!/usr/bin/env python3
"""Particles at random places, of which some stand behind others: how many `spry odt` finds.

bench/odt.py SPRY [--first 0] [--last 16] [--noise 0] [OPTION...]

Volumes of 48^3 voxels of a fifth of the wavelength, three in-line holograms, 3 to 6 particles of 1 to 1.7 um with indices from 1.05 to 1.2; half of them
in line with another one, give or take a tenth of a diameter. Cases of even numbers are holograms of fields, odd ones of intensities. Layers are thin, as
what comes back from them is a part of both ways. OPTIONs go to `spry odt reconstruct`. One line a case: those found within half a diameter, those that are
not there, and the largest error in voxels.
"""
import argparse, json, math, os, random, subprocess, tempfile

VOXEL, SIZE = 0.1266, 48
COMMON = ["--layer", "6", "--type", "c", "--tol", "1e-3", "--quiet"]


def case(number):
    r = random.Random(1000 + number)
    count, diameter = r.randint(3, 6), round(r.uniform(1.0, 1.7), 2)
    index = round(r.uniform(1.05, 1.2), 3)
    room = (0.5 * (SIZE - 1) - 2.01) * VOXEL - 0.5 * diameter
    places = []
    while len(places) < count:
        at = [r.uniform(-room, room) for _ in range(3)]
        if places and r.random() < 0.5:
            axis, other = r.randrange(3), r.choice(places)
            at = [at[a] if a == axis else max(-room, min(room, other[a] + r.uniform(-0.1, 0.1) * diameter)) for a in range(3)]
        if all(math.dist(at, p) >= 1.05 * diameter for p in places):
            places.append(at)
        elif r.random() < 0.002:
            places = []
    return diameter, index, places


def run(spry, number, noise, options, folder):
    diameter, index, places = case(number)
    kind = "intensity" if number % 2 else "field"
    config, holograms, result = (os.path.join(folder, name) for name in ("config", "holograms.h5", "result.json"))
    text = "; ".join(" ".join(f"{x:.4f}" for x in p) for p in places)
    with open(config, "w") as f:
        f.write(f"wavelength = 0.633 um\nvoxel = {VOXEL} um\nsize = {SIZE}\ndiameter = {diameter} um\nindex = {index}\nkind = {kind}\n"
                f"noise = {noise}\nparticles = {text} um\n")
    subprocess.run([spry, "odt", "simulate", config, "-o", holograms] + COMMON, check=True, stdout=subprocess.DEVNULL)
    said = subprocess.run([spry, "odt", "reconstruct", holograms, "--json", result] + COMMON + options, stdout=subprocess.DEVNULL).returncode
    if said != 0:
        print(f"{number}: exit status {said}", flush=True)
        return 0, len(places), 0
    with open(result) as f:
        j = json.load(f)
    found, others = j["known_found"], len(j["particles"]) - j["known_found"]
    print(f"{number:3d} {kind:9s} {diameter:.2f} um, index {index:.3f}: {found} of {len(places)}, {others} others, error {j['largest_error_voxels']:.2f}, "
          f"misfit {j['misfit']:.2g}, {j['solves']} solves", flush=True)
    return found, len(places) - found, others


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("spry")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=16)
    parser.add_argument("--noise", type=float, default=0)
    given, options = parser.parse_known_args()
    total = (0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.first, given.last):
            total = tuple(map(sum, zip(total, run(given.spry, number, given.noise, options, folder))))
    print("found {}, missed {}, others {}".format(*total))


if __name__ == "__main__":
    main()
