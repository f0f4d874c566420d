"""`fovea spans --json`: the mean attention from the queries of a part to the keys of each."""
import numpy as np

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
    words = []
    for number, (begin, end) in enumerate(spans):
        words += ["--span", f"part {number}={begin}:{end}"]
    sinks = bool(draw.one_in(3))
    document = program.json("spans", *layer.source, *computed.words, *words, "--head", index,
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
                 for path, value in leaves(document["variants"][0]["parameters"])}
    for i, queries in enumerate(names.values()):
        expected[f"variants[0].queries_used[{i}]"] = (len(queries), 0)
        for j, keys in enumerate(key_names.values()):
            sums = p[np.ix_(queries, keys)].sum(axis=1)
            error = 1e-10 * np.abs(p[queries]).sum(axis=1).mean() + 1e-300  # sums of float32 numbers in float64
            expected[f"variants[0].mass[{i}][{j}].mass"] = (sums.mean(), error)
    return differences(document, expected, TEXTS)
