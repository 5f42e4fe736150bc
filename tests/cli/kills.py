#!/usr/bin/env python3
"""kill -9 at random moments: kills.py SPRY [KILLS] [SEED]

Writers of matrices, vectors, checkpoints, records, pages and the cache are killed; none may leave a torn file. A file whose
content is known is what it was before or what it becomes, byte for byte; others have to be read without a complaint. Writers
are killed at moments from their beginning to a little after their end, which are drawn by SEED.
"""
import os, random, re, subprocess, sys, tempfile, time

SPRY = os.path.abspath(sys.argv[1])
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
ENDINGS = ("mtx", "mtx.gz", "rb", "npz", "mat", "v73.mat", "spry")
VECTORS = ("mtx", "npy", "spry", "mat")
LEFT = re.compile(r"spry-part-(\d+)-\d+$")


def run(*words, good=(0,)):
    done = subprocess.run([SPRY, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode in good, (words, done.returncode, done.stderr)
    return done


def content(name):
    with open(name, "rb") as file:
        return file.read()


def kill(words, seconds):
    """Starts it, and kills it so much later; whether it was still there."""
    with subprocess.Popen([SPRY, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            process.wait(seconds)
            return False
        except subprocess.TimeoutExpired:
            process.kill()
            return True


class Known:
    """A writer that makes the same file each time, in the place of another one or of none."""

    def __init__(self, name, *words):
        self.name, self.words = name, [*words, name]
        begun = time.monotonic()
        run(*self.words)
        self.seconds = time.monotonic() - begun
        self.new, self.old = content(name), b"what was there before\n"

    def go(self, chance):
        before = chance.choice((None, self.old))
        if os.path.exists(self.name):
            os.remove(self.name)
        if before is not None:
            with open(self.name, "wb") as file:
                file.write(before)
        killed = kill(self.words, chance.uniform(0, 1.1 * self.seconds))
        now = content(self.name) if os.path.exists(self.name) else None
        assert now in (before, self.new) and (killed or now == self.new), f"{self.name} is torn: {len(now or b'')} bytes"
        return killed


class Running:
    """A solve that goes on for ever, and writes as it goes; `check` looks at what it leaves."""

    def __init__(self, name, check, *words):
        self.name, self.check, self.words = name, check, words

    def go(self, chance):
        killed = kill(self.words, chance.uniform(0.02, 0.4))
        self.check(self.name)
        return killed


def is_vector(name):
    if os.path.exists(name):
        run("convert", name, "whole.mtx", "-q")


def goes_on(name):
    """A checkpoint knows its system, and has a sum."""
    if os.path.exists(name):
        run("solve", "p.spry", "--method", "cg", "--precon", "none", "--resume", name, "--max-iter", "1", "-q", good=(0, 1))


class Remembered:
    """A choice of the tuner's, which is remembered at its end: a torn file would be reported, and ignored."""

    def __init__(self):
        self.name, self.words = "cache", ("tune", "t.spry", "--again")
        begun = time.monotonic()
        run(*self.words)
        self.seconds = time.monotonic() - begun

    def go(self, chance):
        killed = kill(self.words, chance.uniform(0, 1.1 * self.seconds))
        done = run("tune", "t.spry")
        assert not done.stderr and "as found in" in done.stdout, done.stderr + done.stdout
        return killed


def writers():
    run("gen", "poisson2d", "--size", "70", "-o", "a.spry", "-q")
    run("gen", "poisson2d", "--size", "200", "-o", "p.spry", "-q")
    run("gen", "poisson2d", "--size", "250", "-o", "t.spry", "-q")
    run("convert", "a.spry", "a.mtx", "-q")
    run("solve", "a.spry", "-o", "x.npy", "-q")
    all_of = [Known(f"m.{ending}", "convert", "a.spry") for ending in ENDINGS]
    all_of += [Known(f"v.{ending}", "convert", "x.npy") for ending in VECTORS]
    all_of += [Known("g.mtx", "gen", "random", "--size", "3000", "-o"), Known("s.svg", "plot", "spy", "a.spry", "-o")]
    forever = ("solve", "p.spry", "--method", "richardson", "--precon", "jacobi", "--tol", "0", "--stall", "0", "--max-iter", "1G",
               "--checkpoint-every", "0.01")
    all_of += [Running("k.npy", is_vector, *forever, "--checkpoint", "k.npy"),
               Running("k.mtx", goes_on, *forever, "--checkpoint", "k.mtx")]
    return all_of + [Remembered()]


def leftovers():
    return {name for name in os.listdir(".") if LEFT.match(name)}


def main():
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="spry-kills.") as folder:
        os.chdir(folder)
        os.environ["SPRY_CACHE"] = os.path.join(folder, "cache")
        all_of = writers()
        done, killed, tries = {}, 0, 0
        while killed < KILLS:
            one = all_of[tries % len(all_of)] if tries < len(all_of) else chance.choice(all_of)
            tries += 1
            assert tries < 20 * KILLS + 100, "writers end before they are killed"
            if one.go(chance):
                killed += 1
                done[one.name] = done.get(one.name, 0) + 1
        left = len(leftovers())
        run("convert", "a.spry", "last.mtx", "-q")
        assert not leftovers(), leftovers()
        os.chdir("/")
    print(f"{killed} kills, seed {SEED}, none torn; {left} temporary files were left, and removed by the next writer")
    print(", ".join(f"{name} {count}" for name, count in sorted(done.items())))


main()
