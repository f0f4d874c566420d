"""merge_results.py FOLDER [EARLIER...]: one result file, on standard output, of what tests/gpu.sh has left in FOLDER.

Each EARLIER is a result file of another commit, the newest first. What it alone has is kept and names that commit.

figures-STEP.json are bench_kernels', peers-STEP.json are torch_peers.py's, cases-STEP.names are test cases and .tsv those
that ran, each in a process of its own, ablation-PROGRAM.jsonl what such a program has printed, load.csv and limits.csv
what nvidia-smi says of the device, times.csv when each step ran, STEP.status says in words how it went and STEP.log what
it said. Any of them may be missing, or cut off.
"""

import json
import sys
from datetime import datetime
from pathlib import Path
from statistics import median

LOAD = ("at", "sm_mhz", "memory_mhz", "power_w", "celsius", "busy_percent", "slowed_by")
LIMITS = ("sm_mhz", "memory_mhz", "power_w")
# A row a line, so that they can be compared by eye.
ROWS = ("peers", "refused_peers", "refused", "figures", "ablation", "cases", "program", "load")
MEASURED = ("who", "what", "precision", "settings", "n", "heads", "d", "causal")


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


def read_rows(path, names, separator=","):
    """A dictionary of each line; lines that were cut off are left out."""
    lines = path.read_text().splitlines() if path.exists() else []
    rows = [[number(cell.strip()) for cell in line.split(separator)] for line in lines]
    return [dict(zip(names, row)) for row in rows if len(row) == len(names)]


def seconds_of(time):
    """Seconds since 1970 of "2026/11/28 05:36:00.123", or None."""
    try:
        return datetime.strptime(time, "%Y/%m/%d %H:%M:%S.%f").timestamp()
    except (TypeError, ValueError):
        return None


def load_of(step, samples):
    """What the device did during a step: of the samples in which it was busy, where there are any."""
    inside = [sample for sample in samples if step["began"] <= sample["at"] <= step["ended"]]
    busy = [sample for sample in inside if isinstance(sample["busy_percent"], float) and sample["busy_percent"] > 0]
    row = {"step": step["step"], "seconds": round(step["ended"] - step["began"], 1), "samples": len(inside),
           "busy": len(busy)}  # fmt: skip
    for name in ("sm_mhz", "memory_mhz", "power_w", "celsius"):
        values = [sample[name] for sample in busy or inside if isinstance(sample[name], float)]
        if values:
            row[name] = {"median": median(values), "least": min(values), "most": max(values)}
    reasons = [str(sample["slowed_by"]) for sample in busy or inside]
    row["slowed_by"] = {reason: round(reasons.count(reason) / len(reasons), 3) for reason in sorted(set(reasons))}
    return row


def read_load(folder):
    samples = [row | {"at": seconds_of(row["at"])} for row in read_rows(folder / "load.csv", LOAD)]
    samples = [sample for sample in samples if sample["at"]]
    steps = read_rows(folder / "times.csv", ("step", "began", "ended"))
    return [load_of(step, samples) for step in steps if step["ended"] - step["began"] >= 1]


def cases_of(path):
    rows = read_rows(path, ("status", "ran", "seconds", "name"), "\t")
    names = path.with_suffix(".names").read_text().splitlines() if path.with_suffix(".names").exists() else []
    slowest = sorted(rows, key=lambda row: -row["seconds"])[:8]
    return {
        "step": path.stem.removeprefix("cases-"),
        "cases": len(names),
        "ran": int(sum(row["ran"] for row in rows)),
        "not_ended": sorted(set(names) - {row["name"] for row in rows}),
        "failed": [f"{row['name']}: status {row['status']:.0f}" for row in rows if row["status"]],
        "seconds": round(sum(row["seconds"] for row in rows), 1),
        "slowest": {row["name"]: row["seconds"] for row in slowest},
    }


def ablation_of(path):
    """The lines of a program; those that are not JSON as text."""
    program = path.stem.removeprefix("ablation-")
    for line in path.read_text(errors="replace").splitlines():
        try:
            found = json.loads(line)
        except json.JSONDecodeError:
            found = line
        yield {"program": program} | (found if isinstance(found, dict) else {"text": line})


def lines_of(path):
    return path.read_text(errors="replace").splitlines() if path.exists() else []


def said_by(path):
    """Of a step of the program itself: how it went, and its last lines."""
    return {"step": path.stem, "status": path.read_text().strip(), "said": lines_of(path.with_suffix(".log"))[-12:]}


def status_of(path):
    """How a step went; what has failed with its last line, such as how many errors there are."""
    status, lines = path.read_text().strip(), lines_of(path.with_suffix(".log"))
    return f"{status}: {lines[-1].strip('= ')}" if status.startswith("failed (") and lines else status


def subject(row):
    """Rows with the same one are of the same step, program or contender."""
    names = MEASURED if "what" in row else ("program",) if "program" in row else ("step",)
    return tuple(row.get(name) for name in names)


def keep_earlier(earlier, result, rows):
    """Adds what only an earlier result file has, with its commit."""
    of_commit = f" of commit {earlier['commit']}"
    for step, status in earlier["steps"].items():
        result["steps"].setdefault(step, status if " of commit " in status else status + of_commit)
    for name in ROWS:
        known = {subject(row) for row in rows[name]}
        others = [row for row in earlier.get(name, []) if subject(row) not in known]
        rows[name] += [{"commit": earlier["commit"]} | row for row in others]


def merge(folder, earlier=()):
    result, rows = {}, {name: [] for name in ROWS}
    for path in sorted(folder.glob("figures-*.json")) + sorted(folder.glob("peers-*.json")):
        try:
            measured = json.loads(path.read_text())
        except json.JSONDecodeError:  # its step ended while it was written
            continue
        for name in ROWS:
            rows[name] += [{"step": path.stem.split("-", 1)[1]} | row for row in measured.pop(name, [])]
        result |= measured  # the commit, the device and its driver: the same in all
    result["limits"] = next(iter(read_rows(folder / "limits.csv", LIMITS)), {})
    result["steps"] = {path.stem: status_of(path) for path in sorted(folder.glob("*.status"))}
    rows["cases"] = [cases_of(path) for path in sorted(folder.glob("cases-*.tsv"))]
    rows["ablation"] = [row for path in sorted(folder.glob("ablation-*.jsonl")) for row in ablation_of(path)]
    rows["program"] = [said_by(path) for path in sorted(folder.glob("program-*.status"))]
    rows["load"] = read_load(folder)
    for path in earlier:
        keep_earlier(json.loads(path.read_text()), result, rows)
    return result, rows


def text_of(result, rows):
    lines = [json.dumps(result, indent=1)[:-2] + ","]
    for name in ROWS:
        lines += [f' "{name}": [', ",\n".join("  " + json.dumps(row) for row in rows[name])]
        lines.append(" ]" + ("," if name != ROWS[-1] else ""))
    return "\n".join(line for line in lines if line) + "\n}\n"


if __name__ == "__main__":
    folder, *earlier = map(Path, sys.argv[1:])
    sys.stdout.write(text_of(*merge(folder, earlier)))
