#!/usr/bin/env python3
"""check_captures.py [FILE...]: computes z of every call again, in float64, from what the file says alone.

Follows the format to the letter and shares no code with the recorder: NumPy is all it needs. Without FILE it
checks the files beside it. Ends with 1 if an output differs by more than the rounding of its type.
"""
import json
import math
import pathlib
import struct
import sys

import numpy as np

SPACING = {"F64": 2.0**-52, "F32": 2.0**-23, "F16": 2.0**-10, "BF16": 2.0**-7}  # of numbers just above 1


def read(path):
    """Arrays (float64, bool or integers), their types, and the metadata."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    arrays, types = {}, {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        kind, piece = entry["dtype"], content[begin:end]
        if kind == "BF16":
            array = (np.frombuffer(piece, "<u2").astype("<u4") << 16).view("<f4").astype(float)
        elif kind in ("F16", "F32", "F64"):
            array = np.frombuffer(piece, "<f" + str(int(kind[1:]) // 8)).astype(float)
        else:
            array = np.frombuffer(piece, {"BOOL": np.bool_, "I32": "<i4"}[kind])
        arrays[name], types[name] = array.reshape(entry["shape"]), kind
    return arrays, types, metadata


def calls_of(arrays):
    return [name[:-2] for name in arrays if name.endswith(".q")]


def said(metadata, prefix, key):
    """What is said of one call wins over what is said of the file."""
    return metadata.get(f"{prefix}.{key}", metadata.get(key))


def output_of(arrays, metadata, prefix):
    """z [H, nq, dv] in float64, NaN in rows that see nothing; the largest logit of a pair that is seen."""
    q, k, v = (arrays[f"{prefix}.{name}"] for name in "qkv")
    part = lambda name: arrays.get(f"{prefix}.{name}", arrays.get(name))  # or that of all calls
    heads, queries, width = q.shape
    keys = k.shape[1]
    scale = said(metadata, prefix, "scale")
    scale = float(scale) if scale else 1 / math.sqrt(width)
    softcap, window = said(metadata, prefix, "softcap"), said(metadata, prefix, "window")
    place = np.arange(queries)[:, None] + keys - queries
    key = np.arange(keys)[None, :]
    output, largest = np.full((heads, queries, v.shape[2]), np.nan), 0.0
    for head in range(heads):
        shared = head // (heads // len(k))
        logits = scale * (q[head] @ k[shared].T)
        if softcap:
            logits = float(softcap) * np.tanh(logits / float(softcap))
        if part("bias") is not None:
            logits = logits + (part("bias")[head] if part("bias").ndim == 3 else part("bias"))
        if part("alibi") is not None:
            logits = logits + part("alibi")[head] * (key - place)
        seen = np.ones((queries, keys), bool)
        if said(metadata, prefix, "causal") == "true":
            seen &= key <= place
        if window:
            seen &= key > place - int(window)
        if part("mask") is not None:
            seen &= part("mask")[head] if part("mask").ndim == 3 else part("mask")
        if part("segments") is not None:
            seen &= part("segments")[:, None] == part("segments")[None, :]
        values = v[shared]
        if part("k_extra") is not None:
            logits = np.hstack([logits, scale * (q[head] @ part("k_extra")[shared].T)])
            values = np.vstack([values, part("v_extra")[shared]])
            closed = place >= part("extra_tokens")[:, 1] - 1
            if part("extra_indices") is not None:
                chosen = part("extra_indices")[:, :, None] == np.arange(closed.shape[1])
                closed = closed & chosen.any(axis=1)
            seen = np.hstack([seen, closed])
        for row in range(queries):
            if not seen[row].any():
                continue
            logit = logits[row, seen[row]]
            largest = max(largest, np.abs(logit).max())
            sink = [] if part("sinks") is None else [part("sinks")[head]]
            top = max([*logit, *sink])
            total = np.exp(logit - top).sum() + sum(np.exp(s - top) for s in sink)
            output[head, row] = np.exp(logit - top) / total @ values[seen[row]]
    return output, largest


def recurrent_output(arrays, metadata, prefix):
    """z [H, n, dv] of a recurrence in float64, token by token, and what rounding may change, [H, n].

    Models compute in float32: a decay exp(g) has the rounding of the sums of g that its exponent is a difference of.
    """
    q, k, v = (arrays[f"{prefix}.{name}"] for name in "qkv")
    heads, tokens, width = q.shape
    log_decay = arrays.get(f"{prefix}.log_decay", np.zeros((heads, tokens))).reshape(heads, tokens, -1)
    beta = arrays.get(f"{prefix}.beta", np.ones((heads, tokens)))
    erases = said(metadata, prefix, "recurrence") == "delta"
    scale = float(said(metadata, prefix, "scale") or 1 / math.sqrt(width))
    output, changes = np.empty((heads, tokens, v.shape[2])), np.empty((heads, tokens))
    for head in range(heads):
        shared = head // (heads // len(k))
        state, terms = np.zeros((width, v.shape[2])), np.zeros((width, v.shape[2]))
        sums = np.abs(log_decay[head]).max(axis=1).cumsum()
        for t in range(tokens):
            key, value, b = k[shared, t], v[shared, t], beta[head, t]
            decay = np.exp(log_decay[head, t])[:, None]
            state, terms = decay * state, decay * terms
            state = state + b * np.outer(key, value - key @ state if erases else value)
            terms = terms + np.abs(b * np.outer(key, value))
            output[head, t] = scale * q[head, t] @ state
            changes[head, t] = scale * (np.abs(q[head, t]) @ terms).max() * (8 + sums[t]) * SPACING["F32"]
    return output, changes


def check_recurrence(arrays, types, metadata, prefix):
    """A line of the report, and whether the call is true."""
    output, changes = recurrent_output(arrays, metadata, prefix)
    model = arrays[f"{prefix}.z"]
    errors = np.abs(output - model).max(axis=2)
    bounds = changes + SPACING[types[f"{prefix}.z"]] * np.abs(model).max()
    good = bool((errors <= bounds).all())
    return (f"{prefix}: {'x'.join(map(str, model.shape))} {types[prefix + '.q']}, a recurrence, error "
            f"{errors.max():.1e} of {bounds.max():.1e}{'' if good else '  WRONG'}"), good


def check(path):
    """Lines of the report, and whether all calls are true."""
    arrays, types, metadata = read(path)
    lines, good = [], bool(calls_of(arrays))
    for prefix in calls_of(arrays):
        model = arrays.get(f"{prefix}.z")
        if model is None:
            lines.append(f"{path.name} {prefix}: no z")
            continue
        if said(metadata, prefix, "recurrence"):
            line, true = check_recurrence(arrays, types, metadata, prefix)
            lines.append(f"{path.name} {line}")
            good &= true
            continue
        output, largest = output_of(arrays, metadata, prefix)
        some = ~np.isnan(output).any(axis=2)
        error = np.abs(output - model)[some].max()
        spacing = SPACING[types[f"{prefix}.z"]]
        # The models keep their logits in float32, and round weights and outputs to their type.
        bound = np.abs(arrays[f"{prefix}.v"]).max() * (2 * spacing + 2 * SPACING["F32"] * largest)
        good &= bool(error <= bound)
        lines.append(f"{path.name} {prefix}: {'x'.join(map(str, model.shape))} {types[prefix + '.q']}, "
                     f"largest logit {largest:.1f}, error {error:.1e} of {bound:.1e}, rows {some.sum()}/{some.size}"
                     f"{'' if error <= bound else '  WRONG'}")
    return lines, good


def main():
    folder = pathlib.Path(__file__).parent
    files = [pathlib.Path(name) for name in sys.argv[1:]] or sorted(folder.glob("*.safetensors"))
    all_good = bool(files)
    for path in files:
        lines, good = check(path)
        all_good &= good
        print("\n".join(lines))
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
