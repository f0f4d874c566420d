"""`fovea spans --json`: the mean attention from the queries of a part to the keys of each."""
import math

import numpy as np

import sampling
from compared import differences, leaves

TEXTS = ("head", "queries[", "keys[", "variants[0].variant", "notes[")


def check(program, layer, exact, computed):
    if layer.queries != layer.keys or "p" not in computed.tensors:
        return []
    draw = layer.draw
    n = layer.keys
    index = int(draw.random.integers(layer.heads))
    cuts = sorted(set(draw.random.integers(0, n + 1, 2 * draw.size(1, 3)).tolist()))
    spans = [(a, b) for a, b in zip(cuts[::2], cuts[1::2])]
    spans_words = []
    for number, (begin, end) in enumerate(spans):
        spans_words += ["--span", f"part {number}={begin}:{end}"]
    sinks = bool(draw.one_in(3))
    document = program.json("spans", *layer.source, *computed.words, *spans_words, "--head", index,
                            *(["--sinks"] if sinks else []))
    names = {name: np.arange(begin, end) for name, (begin, end) in zip((f"part {i}" for i in range(len(spans))), spans)}
    rest = np.setdiff1d(np.arange(n), np.concatenate([np.zeros(0, int), *names.values()]))
    if not spans:
        names = {"all tokens": np.arange(n)}
    elif len(rest):
        names["other tokens"] = rest
    key_names = names
    if sinks:
        key_names = {"first token": np.arange(1)} | ({"other tokens": np.arange(1, n)} if n > 1 else {})
    p = computed.of_head("p", index)
    expected = {f"queries[{i}]": (name, 0) for i, name in enumerate(names)}
    expected |= {f"keys[{i}]": (name, 0) for i, name in enumerate(key_names)}
    expected |= {"variants[0].seed": (computed.seed, 0), "variants[0].sampled": (False, 0)}
    expected |= {"variants[0].parameters." + path: (value, 0)
                 for path, value in leaves(computed.document["parameters"])}
    for i, queries in enumerate(names.values()):
        expected[f"variants[0].queries_used[{i}]"] = (len(queries), 0)
        for j, keys in enumerate(key_names.values()):
            sums = p[np.ix_(queries, keys)].sum(axis=1)
            error = 1e-10 * np.abs(p[queries]).sum(axis=1).mean() + 1e-300  # sums of float32 numbers in float64
            expected[f"variants[0].mass[{i}][{j}].mass"] = (sums.mean(), error)
    if computed.variant in ("exact", "imported"):
        return differences(document, expected, TEXTS)
    # The table of a variant is the same beside that of another.
    words = [word for word in computed.words if word != "--variant" and word != computed.variant]
    for name in ("exact", computed.variant):
        words += ["--variant", name]
    beside = program.json("spans", *layer.source, *words, *spans_words, "--head", index, *(["--sinks"] if sinks else []))
    same = [] if beside["variants"][1:] == document["variants"] else ["variants[1] is not what it is alone"]
    return differences(document, expected, TEXTS) + same


def check_long(program, layer, computed):
    """Spans of a head whose queries are sampled: equally many of each part, or all that the part has."""
    n = layer.keys
    parts = {"first": np.arange(700), "second": np.arange(700, n)}
    document = program.json("spans", *layer.source, *computed.words, "--span", "first=0:700", "--span", f"second=700:{n}")
    p = computed.of_head("p", 0)
    wanted = sampling.MOST_ENTRIES // n
    expected = {"variants[0].seed": (0, 0), "variants[0].sampled": (True, 0)}
    expected |= {"variants[0].parameters." + path: (value, 0) for path, value in leaves(computed.document["parameters"])}
    for i, (name, queries) in enumerate(parts.items()):
        expected |= {f"queries[{i}]": (name, 0), f"keys[{i}]": (name, 0)}
        used = len(queries) if i == 0 else wanted - 700
        expected[f"variants[0].queries_used[{i}]"] = (used, 0)
        words = sampling.Stream(0, sampling.QUERIES, i, len(queries)).words()
        rows = queries[sampling.in_sequence(words, used)]
        for j, keys in enumerate(parts.values()):
            sums = p[np.ix_(rows, keys)].sum(axis=1)
            where = f"variants[0].mass[{i}][{j}]."
            expected[where + "mass"] = (sums.mean(), 1e-10)
            error = sums.std(ddof=1) / math.sqrt(used) * math.sqrt(1 - used / len(queries))
            expected[where + "standard_error"] = (error, 1e-6 * error + 1e-10)
    return differences(document, expected, TEXTS)
