"""`fovea heads --measures --json`: what each head does, from the weights of exact attention."""
import json
import math
import os

import numpy as np

import sampling
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


DECOMPOSED, MOST_FOR_RANK = 1536, 4096  # the longest heads of which all singular values are found, and any


def rank_of(values, logs):
    """exp of the entropy of shares, from the sums of s and of s ln s."""
    return math.exp(math.log(values) - logs / values) if values > 0 else 0.0


def logs_of(values):
    return values * np.log(values, out=np.zeros_like(values), where=values > 0)


def quadrature(p, steps):
    """[draws, 2] the sums of s and s ln s over the singular values s of P as vectors of random signs estimate them:
    Gauss quadrature after `steps` of Lanczos (Golub and Meurant 2010)."""
    keys, sums = p.shape[1], []
    for draw in range(8):
        bits = sampling.Stream(0, sampling.SIGNS, draw, keys // 2 + 2).bits.reshape(-1)[:keys]
        basis = [np.where(bits % np.uint64(2) == 0, 1, -1) / math.sqrt(keys)]
        diagonal, beside = [], []
        for _ in range(steps):
            y = p.T @ (p @ basis[-1])
            diagonal.append(basis[-1] @ y)
            known = np.array(basis)
            for _ in range(2):
                y = y - known.T @ (known @ y)
            beside.append(np.linalg.norm(y))
            if beside[-1] <= 1e-14 * max(diagonal):
                break
            basis.append(y / beside[-1])
        off = np.diag(beside[:len(diagonal) - 1], 1)
        squares, vectors = np.linalg.eigh(np.diag(diagonal) + off + off.T)
        values = np.sqrt(np.maximum(squares, 0))
        weight = keys * vectors[0] ** 2
        sums.append(((weight * values).sum(), (weight * logs_of(values)).sum()))
    return np.array(sums)


def estimated_rank(p):
    """The rank and its standard error: that of the entropy, linearised in both sums, and what later steps moved."""
    each = quadrature(p, 64)
    values, logs = each.mean(axis=0)
    rank, before = rank_of(values, logs), rank_of(*quadrature(p, 32).mean(axis=0))
    off = (each[:, 0] - values) / values * (1 + logs / values) - (each[:, 1] - logs) / values
    return rank, math.hypot(rank * math.sqrt((off ** 2).sum() / 7 / 8), rank - before)


def mean_over(rows, p, allowed, meant):
    """The weight on the keys that are meant: the mean over queries that may attend one."""
    meant = meant & allowed
    some = meant.any(axis=1)
    return rows.ratio((p * meant).sum(axis=1), some.astype(float)) if some.any() else None


def mean_of(rows, values, some):
    """The mean over some of the rows that are read; `values` are those of these."""
    every = np.zeros(len(some))
    every[some] = values
    return rows.ratio(every, some.astype(float)) if some.any() else None


def measures_of(p, allowed, offset, tokens):
    """{name: (value, standard error)}, or None where nothing is known; and the rows that are read, and those without keys."""
    queries, keys = p.shape
    rows = sampling.Rows(queries, keys)
    any_key = allowed.any(axis=0)
    first = int(np.argmax(any_key)) if any_key.any() else 0
    out = {"effective_rank": None}
    if max(p.shape) <= DECOMPOSED:
        values = np.linalg.svd(p, compute_uv=False)
        out["effective_rank"] = rank_of(values.sum(), logs_of(values).sum()), 0.0
    elif max(p.shape) <= MOST_FOR_RANK:
        out["effective_rank"] = estimated_rank(p)
    if rows.sampled:
        p, allowed = p[rows.rows], allowed[rows.rows]
    place, key = rows.rows[:, None] + offset, np.arange(keys)[None]
    kept = allowed.any(axis=1)  # rows with keys
    away = np.abs(place - key)
    out["first_token"] = mean_over(rows, p, allowed, np.broadcast_to(key == first, p.shape))
    sums = p.sum(axis=1)
    some = kept & (sums > 0)
    weighted = p[some] / sums[some, None]
    out["entropy"] = mean_of(rows, -logs_of(weighted).sum(axis=1), some)
    places_known = offset >= 0
    out["previous_token"] = mean_over(rows, p, allowed, key == place - 1) if places_known else None
    for tokens_away in (16, 128):
        share = (p * (away <= tokens_away)).sum(axis=1)[kept]
        out[f"within_{tokens_away}"] = mean_of(rows, share, kept) if places_known else None
    out["distance"] = mean_of(rows, (weighted * away[some]).sum(axis=1), some) if places_known else None
    out["same_token"] = out["induction"] = None
    if tokens is not None:
        same = tokens[place] == tokens[key]
        out["same_token"] = mean_over(rows, p, allowed, same & (key < place))
        follows = np.zeros(p.shape, bool)
        follows[:, 1:] = (same & (key < place))[:, :-1]
        out["induction"] = mean_over(rows, p, allowed, follows)
    return out, len(rows.rows), int((~kept).sum())


def check(program, layer, exact, _):
    source, tokens = named(program, layer)
    document = program.json("heads", *source, "--measures")
    expected = {"seed": (0, 0)}
    for h in range(layer.heads):
        where = f"heads[{h}]."
        allowed = layer.head(h).allowed
        measures, read, without = measures_of(exact.of_head("p", h), allowed, layer.offset, tokens)
        for name, value in (("layer", 0), ("head", h), ("queries", layer.queries), ("keys", layer.keys),
                            ("rows", read), ("rows_without_keys", without)):
            expected[where + name] = (value, 0)
        for name, found in measures.items():
            if found is None:
                expected[where + name] = (None, 0)
                continue
            value, standard_error = found
            near = RANK if name == "effective_rank" else SHARES
            expected[where + name] = (value, near * max(1, value))
            if standard_error:
                expected[where + name + "_standard_error"] = (standard_error, 0.01 * standard_error if near == RANK else
                                                              1e-6 * standard_error + SHARES)
    return differences(document, expected, TEXTS)
