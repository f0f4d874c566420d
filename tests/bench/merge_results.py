"""merge_results.py FOLDER: one result file, on standard output, of what tests/gpu.sh has left in FOLDER.

figures-*.json are bench_kernels', peers-*.json are torch_peers.py's, clocks.csv are the clocks around each step, and
NAME.status says in words how the step NAME went. Any of them may be missing.
"""

import json
import sys
from pathlib import Path

CLOCKS = ("step", "when", "sm_mhz", "memory_mhz", "most_sm_mhz", "most_memory_mhz", "power_limit_w", "celsius",
          "slowed_by")  # fmt: skip
ROWS = ("peers", "refused_peers", "refused", "figures", "clocks")  # a row a line, so that they can be compared by eye


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


def read_clocks(path):
    if not path.exists():
        return []
    lines = [line.split(",") for line in path.read_text().splitlines()]
    return [dict(zip(CLOCKS, (number(cell.strip()) for cell in cells))) for cells in lines]


def merge(folder):
    result, rows = {}, {name: [] for name in ROWS}
    for path in sorted(folder.glob("figures-*.json")) + sorted(folder.glob("peers-*.json")):
        try:
            measured = json.loads(path.read_text())
        except json.JSONDecodeError:  # its step ended while it was written
            continue
        for name in ROWS:
            rows[name] += measured.pop(name, [])
        result |= measured  # the commit, the device and its driver: the same in all
    result["steps"] = {path.stem: path.read_text().strip() for path in sorted(folder.glob("*.status"))}
    rows["clocks"] = read_clocks(folder / "clocks.csv")
    return result, rows


def text_of(result, rows):
    lines = [json.dumps(result, indent=1)[:-2] + ","]
    for name in ROWS:
        lines += [f' "{name}": [', ",\n".join("  " + json.dumps(row) for row in rows[name])]
        lines.append(" ]" + ("," if name != ROWS[-1] else ""))
    return "\n".join(line for line in lines if line) + "\n}\n"


if __name__ == "__main__":
    sys.stdout.write(text_of(*merge(Path(sys.argv[1]))))
