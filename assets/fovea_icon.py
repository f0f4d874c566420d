#!/usr/bin/env python3
"""Draws fovea.svg: a disc of square cells, smallest at the centre, twice as large at each step out.

The cells follow a quadtree: a square is split while it is nearer to the centre than its own size,
which is the admissibility rule of a hierarchical matrix.
"""
from pathlib import Path

SIDE, SMALLEST, GAP = 256.0, 8.0, 1.2
COLOURS = {8: "#fde725", 16: "#5ec962", 32: "#21918c", 64: "#3b528b"}  # viridis, sharp to coarse


def cells(x, y, size):
    centre = SIDE / 2
    distance = max(abs(x + size / 2 - centre), abs(y + size / 2 - centre)) - size / 2
    if size > SMALLEST and (size > 64 or distance < size * 0.5):
        for dy in (0, size / 2):
            for dx in (0, size / 2):
                yield from cells(x + dx, y + dy, size / 2)
    else:
        yield x, y, size


def main():
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE:g} {SIDE:g}">',
             "  <title>Fovea</title>",
             '  <clipPath id="disc"><circle cx="128" cy="128" r="120"/></clipPath>',
             '  <circle cx="128" cy="128" r="124" fill="#440154"/>',
             '  <g clip-path="url(#disc)">']
    for x, y, size in cells(0.0, 0.0, SIDE):
        gap = GAP * (size / 16) ** 0.5
        lines.append(f'    <rect x="{x + gap:g}" y="{y + gap:g}" width="{size - 2 * gap:g}" '
                     f'height="{size - 2 * gap:g}" rx="{size / 10:g}" fill="{COLOURS[int(size)]}"/>')
    lines += ["  </g>", "</svg>", ""]
    Path(__file__).with_name("fovea.svg").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
