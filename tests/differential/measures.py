"""`fovea heads --measures --json`: what each head does, from the weights of exact attention."""
import json
import os

import numpy as np

import tensor_file
from compared import differences

TEXTS = ("inputs[", "backend", "device", "precision", "notes[", "measures[", "heads[")
SHARES = 1e-10  # sums of float32 numbers in float64, in another order
# The program decomposes the Gram matrix of P: the least singular values are off by 1e-8 of the largest, and it may stop
# where the rest has 1e-7 of the norm of P. Of at most 96 values these are 1.5e-4 of the entropy.
RANK = 5e-4


def named(program, layer):
    """The source with tokens, some of which are equal, where its file can hold them; and the tokens."""
    if layer.file.endswith(".npz") or layer.queries != layer.keys:
        return layer.source, None
    tokens = [f"t{place * place % 7}" for place in range(layer.keys)]
    path = os.path.join(program.folder, "named.safetensors")
    tensor_file.write(path, layer.tensors, layer.metadata | {"tokens": json.dumps(tokens)})
    return ["named.safetensors", *layer.source[1:]], np.array(tokens)


def mean_over(p, allowed, meant):
    """The weight on the keys that are meant: the mean over queries that may attend one."""
    meant = meant & allowed
    rows = meant.any(axis=1)
    return float((p * meant).sum(axis=1)[rows].mean()) if rows.any() else None


def measures_of(p, allowed, offset, tokens):
    queries, keys = p.shape
    place, key = np.arange(queries)[:, None] + offset, np.arange(keys)[None]
    kept = allowed.any(axis=1)  # rows with keys
    rows, away = p[kept], np.abs(place - key)[kept]
    first = int(np.argmax(allowed.any(axis=0))) if kept.any() else 0
    out = {"first_token": mean_over(p, allowed, np.broadcast_to(key == first, p.shape))}
    sums = rows.sum(axis=1)
    weighted = rows[sums > 0] / sums[sums > 0, None]
    logs = np.log(weighted, out=np.zeros_like(weighted), where=weighted > 0)
    out["entropy"] = float(-(weighted * logs).sum(axis=1).mean()) if len(weighted) else None
    values = np.linalg.svd(p, compute_uv=False)
    shares = values[values > 0] / values.sum() if values.sum() > 0 else np.zeros(0)
    out["effective_rank"] = float(np.exp(-(shares * np.log(shares)).sum())) if len(shares) else 0.0
    places_known = queries <= keys
    out["previous_token"] = mean_over(p, allowed, key == place - 1) if places_known else None
    for tokens_away in (16, 128):
        share = (rows * (away <= tokens_away)).sum(axis=1)
        out[f"within_{tokens_away}"] = float(share.mean()) if places_known and len(share) else None
    distance = (weighted * away[sums > 0]).sum(axis=1)
    out["distance"] = float(distance.mean()) if places_known and len(distance) else None
    out["same_token"] = out["induction"] = None
    if tokens is not None:
        same = tokens[place] == tokens[key]
        out["same_token"] = mean_over(p, allowed, same & (key < place))
        follows = np.zeros(p.shape, bool)
        follows[:, 1:] = (same & (key < place))[:, :-1]
        out["induction"] = mean_over(p, allowed, follows)
    return out


def check(program, layer, exact, _):
    source, tokens = named(program, layer)
    document = program.json("heads", *source, "--measures")
    document.pop("seconds")  # measured
    expected = {"seed": (0, 0)}
    for h in range(layer.heads):
        where = f"heads[{h}]."
        allowed = layer.head(h).allowed
        for name, value in (("layer", 0), ("head", h), ("queries", layer.queries), ("keys", layer.keys),
                            ("rows", layer.queries), ("rows_without_keys", int((~allowed.any(axis=1)).sum()))):
            expected[where + name] = (value, 0)
        for name, value in measures_of(exact.of_head("p", h), allowed, layer.offset, tokens).items():
            error = 0 if value is None else (RANK if name == "effective_rank" else SHARES) * max(1, value)
            expected[where + name] = (value, error)
    return differences(document, expected, TEXTS)
