"""`fovea sweep`: rows of results.jsonl against compute, and results.csv against them."""
import csv
import json
import os

from compared import number

# What is no number of the head: names, settings, the machine and the run.
TEXTS = ("item", "source", "layer_name", "variant", "notes", "backend", "device", "precision", "host", "process",
         "version", "plan", "error")
COSTS = ("multiply_adds", "bytes", "exact_multiply_adds")


def rows_differ(layer, computed, rows):
    wrong, total = [], dict.fromkeys(COSTS, 0.0)
    for row in rows:
        plain = {"layer": 0, "n": layer.keys, "d": layer.d, "dv": layer.dv, "causal": layer.causal,
                 "seed": computed.seed}
        for name, value in row.items():
            if name in TEXTS or name.startswith("set."):
                continue
            if name in COSTS:
                total[name] += number(value)
                continue
            if name in ("head", "ratio_to_exact"):  # the number of the row; of the two costs
                continue
            right = plain[name] if name in plain else computed.measure(row["head"], name)
            if number(value) != right:
                wrong.append(f"results.jsonl: {name} of head {row['head']} is {value}; expected {right}")
        if row["exact_multiply_adds"]:
            ratio = row["multiply_adds"] / row["exact_multiply_adds"]
            if abs(row["ratio_to_exact"] - ratio) > 1e-15 * ratio:
                wrong.append(f"results.jsonl: ratio_to_exact is {row['ratio_to_exact']}; expected {ratio}")
    for name in COSTS:
        if total[name] != computed.document["cost"][name]:
            wrong.append(f"results.jsonl: {name} is {total[name]}; expected {computed.document['cost'][name]}")
    if len(rows) != layer.heads:
        wrong.append(f"results.jsonl has {len(rows)} rows; expected {layer.heads}")
    return wrong


def table_differs(rows, table):
    wrong = []
    for row, line in zip(rows, table, strict=True):
        for name, text in line.items():
            value = number(row.get(name))
            if isinstance(value, bool):
                same = text == str(value).lower()
            elif isinstance(value, (int, float)):
                same = float(text) == value
            else:
                same = text == ("" if value is None else value) or (text.startswith("'") and text[1:] == value)
            if not same:
                wrong.append(f"results.csv: {name} is {text}; expected {value}")
    return wrong


def check(program, layer, exact, computed):
    if layer.source != [layer.file]:  # a plan has no such options
        return []
    plan = {"sources": [layer.file], "layers": [0], "heads": "all", "seeds": [computed.seed], "rounds": 0, "threads": 1,
            "variants": [{"variant": computed.variant, "set": {k: v for k, v in computed.values.items() if v != ""}}]}
    with open(os.path.join(program.folder, "plan.json"), "w") as file:
        json.dump(plan, file)
    folder = f"results of {computed.variant}"
    program.call("sweep", "plan.json", "-o", folder)
    with open(os.path.join(program.folder, folder, "results.jsonl")) as file:
        rows = [row for row in map(json.loads, file) if "item" in row]
    with open(os.path.join(program.folder, folder, "results.csv"), newline="") as file:
        table = list(csv.DictReader(file))
    rows.sort(key=lambda row: row["item"])
    return rows_differ(layer, computed, rows) + table_differs(rows, table)
