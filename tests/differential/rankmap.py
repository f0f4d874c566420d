"""`fovea rankmap --json`: blocks, singular values, ranks, and what they would take to store."""
import math
import os

import numpy as np

import figures
import tensor_file
from compared import differences, leaves, number

TEXTS = ("of", "variant", "partition", "notes[", "maps[")


def blocks_of(queries, keys, leaf, hierarchy):
    """(rows, columns, level): leaves on the diagonal and the two blocks between siblings; or a grid."""
    if not hierarchy:
        for row in range(0, queries, leaf):
            for col in range(0, keys, leaf):
                yield slice(row, min(row + leaf, queries)), slice(col, min(col + leaf, keys)), 0
        return
    for begin in range(0, keys, leaf):
        yield slice(begin, min(begin + leaf, keys)), slice(begin, min(begin + leaf, keys)), 0
    level, side = 1, leaf
    while side < keys:
        for begin in range(0, keys - side, 2 * side):
            first, second = slice(begin, begin + side), slice(begin + side, min(begin + 2 * side, keys))
            yield first, second, level
            yield second, first, level
        level, side = level + 1, 2 * side


def rank(sigma, tolerance, relative):
    """Of singular values as they were written."""
    if relative:
        return sum(s > tolerance * sigma[0] for s in sigma)
    return next(r for r in range(len(sigma) + 1) if r == len(sigma) or math.fsum(sigma[r:]) < tolerance)


def matrix_of(what, head, exact, computed):
    """The matrix in float64, and how far the program's entries may be from it."""
    if what == "attention":
        return computed, 0
    if what == "error":  # in float32
        return (computed.astype(np.float32) - exact.astype(np.float32)).astype(float), 0
    logits = head.logits()
    of_bias = figures.UNIT * np.abs(head.bias)  # slopes times distances are rounded to float32
    if what == "logits":
        return logits, figures.UNIT * np.abs(logits) + of_bias + figures.LEAST
    with np.errstate(over="ignore"):
        entries = np.where(head.allowed, np.exp(logits), 0)
    return entries, (2 * figures.UNIT + np.expm1(of_bias)) * entries + figures.LEAST


def several_differ(program, layer, computed, words, document):
    """Maps of several variants are those of each alone."""
    if computed.variant in ("exact", "imported"):
        return []
    words = [word for word in words if word != "--variant" and word != computed.variant]
    both = program.json("rankmap", *layer.source, "--variant", "exact", computed.variant, *words)
    alone = dict(document)
    alone.pop("notes")
    expected = {f"maps[1].{path}": (number(value), 0) for path, value in leaves(alone)}
    both["maps"][0] = {}
    return differences(both, expected, TEXTS)


def of_matrix(program, matrix, words):
    """A file that holds an attention matrix alone."""
    tensor_file.write(os.path.join(program.folder, "matrix.safetensors"), {"attention": ("F32", matrix[None])}, {})
    return program.json("rankmap", "matrix.safetensors", *words)


def check(program, layer, exact, computed):
    """Of one head of a layer, of which `exact` and `computed` hold P."""
    if "p" not in computed.tensors:  # not known of an imported result
        return []
    draw = layer.draw
    index = int(draw.random.integers(layer.heads))
    head = layer.head(index)
    what = draw.of(["attention", "error", "logits", "unnormalised"])
    hierarchy = layer.queries == layer.keys and not draw.one_in(3)
    leaf, tolerance, relative = draw.size(1, layer.keys), draw.of([0.5, 1e-2, 1e-3]), bool(draw.one_in(2))
    words = ["--leaf", leaf, "--tolerance", tolerance, "--partition", "hierarchy" if hierarchy else "uniform",
             *(["--relative"] if relative else [])]
    alone = what == "attention" and layer.dv % 3 == 1
    if alone:
        document = of_matrix(program, computed.of_head("p", index).astype(np.float32), words)
    else:
        words = [*computed.words, "--head", index, "--of", what, *words]
        document = program.json("rankmap", *layer.source, *words)
    matrix, error = matrix_of(what, head, exact.of_head("p", index), computed.of_head("p", index))
    if not np.abs(matrix).max() < np.finfo(np.float32).max:  # exp of a logit may be infinite in float32
        return []
    seed = None if alone else computed.seed
    expected = {"n": layer.keys, "queries": layer.queries, "keys": layer.keys, "seed": seed, "leaf": leaf,
                "tolerance": tolerance, "relative": relative, "left_to_cpu": 0}
    expected = {name: (value, 0) for name, value in expected.items()}
    if alone:
        expected |= {"variant": (None, 0), "parameters": (None, 0)}
    else:
        expected |= {"parameters." + path: (value, 0) for path, value in leaves(computed.document["parameters"])}
    stored = dense = 0
    counted = np.ones_like(matrix, bool)
    if layer.causal and what != "logits" and not alone:
        counted = np.arange(layer.keys)[None] <= np.arange(layer.queries)[:, None] + layer.offset
    for number, (rows, cols, level) in enumerate(blocks_of(layer.queries, layer.keys, leaf, hierarchy)):
        block = matrix[rows, cols]
        where = f"blocks[{number}]."
        height, width = block.shape
        place = {"row": rows.start, "col": cols.start, "size": max(height, width), "rows": height, "cols": width,
                 "level": level}
        expected |= {where + name: (value, 0) for name, value in place.items()}
        sigma = np.linalg.svd(block, compute_uv=False)
        # A change of the entries moves each value by no more than its norm; the decomposition is in float32.
        moved = np.linalg.norm(np.broadcast_to(error, matrix.shape)[rows, cols]) + 1e-6 * sigma[0]
        entry = document["blocks"][number] if number < len(document["blocks"]) else {}
        written, resolved = entry.get("singular_values", []), entry.get("resolved")
        # Of large blocks the smallest may not be told apart: all of them have the same bound of their sum.
        clear = len(sigma) if len(sigma) <= 32 else int((sigma > 1e-5 * sigma[0]).sum())
        if resolved is None or not clear <= resolved <= len(sigma):
            return [f"{where}resolved is {resolved}; expected {clear} to {len(sigma)}"]
        expected[where + "resolved"] = (resolved, 0)
        expected |= {f"{where}singular_values[{i}]": (float(s), moved) for i, s in enumerate(sigma[:resolved])}
        expected |= {f"{where}singular_values[{i}]": (written[resolved], 0) for i in range(resolved, len(sigma))}
        rest = math.fsum(sigma[resolved:])
        if resolved < len(sigma) and rest > math.fsum(written[resolved:]) + moved:
            return [f"{where}singular_values[{resolved}] is {written[resolved]}; expected a bound of {rest} in all"]
        own = rank(written, tolerance, relative) if None not in written and len(written) == len(sigma) else -1
        expected[where + "rank"] = (own, 0)
        entries = int(counted[rows, cols].sum())
        dense += entries
        stored += entries if hierarchy and level == 0 else min(entries, own * (height + width))
    expected["stored_entries"] = (stored, 0)
    ratio = dense / stored if stored else math.inf if dense else None
    expected["compression"] = (ratio, 1e-12 * ratio if stored else 0)
    wrong = differences(document, expected, TEXTS)
    return wrong if alone else wrong + several_differ(program, layer, computed, words, document)
