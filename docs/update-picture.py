#!/usr/bin/env python3
"""Draws docs/pictures/sweeps.svg, the picture of README.md, from what `spry explain cg` says: update-picture.py SPRY [FILE]

Left the loop of conjugate gradients statement by statement, right as the library fuses it; a mark for each vector that a pass over
memory reads or writes. The tests draw it again and compare."""
import html
import os
import re
import subprocess
import sys

VECTORS = ["A", "M", "p", "q", "r", "x", "z"]
LINE, STEP, TOP, SIDE = 21, 25, 92, 24
TEXT = 'font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="14"'
TITLE = 'font-family="system-ui, DejaVu Sans, sans-serif"'
READ, WRITTEN, GREY = "#1f6fb2", "#d4541c", "#6b6b6b"


def sweeps(spry, *options):
    """The sweeps of the loop: statements, vectors read, vectors written."""
    command = [spry, "explain", "cg", "--precon", "jacobi", *options]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^  sweep \d+ +(.*)\n +reads ([^;\n]*)(?:; writes (.*))?$", said, re.M)
    moved = int(re.search(r"^  vectors +(\d+)", said, re.M)[1])
    return [([s.strip() for s in text.split(";")], reads.split(), writes.split()) for text, reads, writes in found], moved


def text(x, y, words, style, **more):
    extra = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
    return f'<text x="{x}" y="{y}" {style}{extra}>{html.escape(words)}</text>'


def panel(left, width, title, passes, moved):
    """One side of the picture, and where it ends."""
    out, y = [], TOP
    dots = left + width - STEP * len(VECTORS) + STEP / 2
    out.append(text(left, 30, title, TITLE, font_size=17, font_weight="bold"))
    words = f"{len(passes)} passes over memory, {moved} vectors moved"
    out.append(text(left, 52, words, TITLE, font_size=14, fill=GREY))
    for k, name in enumerate(VECTORS):
        out.append(text(dots + k * STEP, TOP - 12, name, TEXT, text_anchor="middle", fill=GREY))
    for statements, reads, writes in passes:
        height = LINE * len(statements) + 10
        out.append(f'<rect x="{left}" y="{y}" width="{width}" height="{height - 4}" rx="4" fill="#f3f4f6"/>')
        for k, statement in enumerate(statements):
            out.append(text(left + 10, y + 18 + k * LINE, statement, TEXT))
        middle = y + (height - 4) / 2
        for k, name in enumerate(VECTORS):
            x = dots + k * STEP
            both = name in reads and name in writes
            if name in reads:
                out.append(f'<circle cx="{x - 5 * both}" cy="{middle}" r="4.5" fill="none" stroke="{READ}" stroke-width="2"/>')
            if name in writes:
                out.append(f'<circle cx="{x + 6 * both}" cy="{middle}" r="5.5" fill="{WRITTEN}"/>')
        y += height
    return out, y


def main():
    spry = sys.argv[1]
    here = os.path.dirname(os.path.abspath(__file__))
    target = sys.argv[2] if len(sys.argv) > 2 else os.path.join(here, "pictures", "sweeps.svg")
    left, end = panel(SIDE, 370, "As it is written", *sweeps(spry, "--no-fuse"))
    right, other = panel(SIDE + 450, 370, "As it runs", *sweeps(spry))
    end = max(end, other)
    middle = TOP + 75
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * SIDE + 820} {end + 40}" width="{2 * SIDE + 820}" height="{end + 40}">']
    out.append("<title>The loop of conjugate gradients: as it is written, and as spry runs it</title>")
    out.append('<rect width="100%" height="100%" fill="white"/>')
    out += left + right
    x = SIDE + 384
    out.append(f'<path d="M{x} {middle} h42 m-12 -9 l12 9 l-12 9" fill="none" stroke="{GREY}" stroke-width="2.5"/>')
    y = end + 14
    out.append(f'<circle cx="{SIDE + 8}" cy="{y}" r="4.5" fill="none" stroke="{READ}" stroke-width="2"/>')
    out.append(text(SIDE + 20, y + 5, "read", TITLE, font_size=13, fill=GREY))
    out.append(f'<circle cx="{SIDE + 68}" cy="{y}" r="5.5" fill="{WRITTEN}"/>')
    words = "written.  A is the matrix, M Jacobi's preconditioner. From `spry explain cg`, with and without --no-fuse."
    out.append(text(SIDE + 80, y + 5, words, TITLE, font_size=13, fill=GREY))
    out.append("</svg>")
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


main()
