"""Low precision, in float64: from tables of the formats' numbers, of which the nearest is taken, among two the one whose
code is even."""
import numpy as np

import figures
import variants


def floats(codes, fraction_bits, bias):
    """Numbers from 0 on in the order of their codes."""
    code = np.arange(codes)
    exponent, part = code >> fraction_bits, (code % 2 ** fraction_bits) / 2 ** fraction_bits
    return np.where(exponent == 0, part * 2.0 ** (1 - bias), (1 + part) * 2.0 ** (exponent - bias))


INT8, INT4, E4M3, E2M1 = np.arange(128.0), np.arange(8.0), floats(127, 3, 7), floats(8, 1, 1)


def nearest(x, numbers):
    """The nearest of the format's numbers, with the sign of x."""
    size = np.minimum(np.abs(x), numbers[-1])
    above = np.clip(np.searchsorted(numbers, size), 1, len(numbers) - 1)
    low, high = size - numbers[above - 1], numbers[above] - size
    code = above - ((low < high) | ((low == high) & (above % 2 == 1)))
    return np.copysign(numbers[code], x)


def float32(x):
    return np.asarray(x).astype(np.float32).astype(float)


def scales(x, numbers, rows, cols):
    """The scale of each number. Blocks are cut off at the ends."""
    largest = np.abs(x)
    for axis, size in enumerate((rows, cols)):
        starts = np.arange(0, x.shape[axis], size)
        largest = np.repeat(np.maximum.reduceat(largest, starts, axis=axis), np.diff(np.append(starts, x.shape[axis])),
                            axis=axis)
    if numbers is not E2M1:
        return float32(largest / numbers[-1])
    tensor = float32(np.abs(x).max() / (E4M3[-1] * numbers[-1]))
    return tensor * nearest(largest / numbers[-1] / tensor, E4M3) if tensor > 0 else 0 * largest


class Rounded:
    """A tensor that was rounded to a format, and its figures in the JSON of `compute`."""

    def __init__(self, name, x, given, numbers, rows, cols):
        scale = scales(x, numbers, rows, cols)
        quotient = np.divide(x, scale, out=np.zeros_like(x), where=scale > 0)
        self.x = float32(nearest(quotient, numbers) * scale)
        squares = ((self.x - x) ** 2).sum(axis=0)
        norm = np.linalg.norm(given)
        error = np.sqrt(squares.sum()) / norm if squares.sum() > 0 else 0.0
        self.figures = {f"{name}_error": (error, 1e-12 * error), f"{name}_scale": (scale.max(), 1e-15 * scale.max()),
                        f"{name}_clipped": ((np.abs(quotient) > numbers[-1] * (1 + 1e-6)).mean(), 1e-12),
                        f"{name}_zeroed": (((self.x == 0) & (x != 0)).mean(), 1e-12)}
        if name == "k":
            self.figures |= outlier(squares)


def outlier(squares):
    if not squares.sum() > 0:
        return {"outlier_channel": (None, 0), "outlier_share": (None, 0)}
    near = (squares >= squares.max() * (1 - 1e-12)).sum() > 1  # rounding decides
    return {"outlier_channel": (float(squares.argmax()), np.inf if near else 0),
            "outlier_share": (squares.max() / squares.sum(), 1e-12)}


def rounded_weights(p, top, share, of_scales=1.0, of_weights=1.0):
    """Rows of P as numbers of few bits, the largest weight of a row being `top` of them. Factors near 1 move numbers
    across ties."""
    largest = p.max(axis=1, keepdims=True, initial=0)
    x = np.divide(top * p, largest, out=np.zeros_like(p), where=largest > 0)
    if not share:
        return nearest(x * of_weights, E4M3) * largest / top
    starts = np.arange(0, x.shape[1], share)
    of_groups = nearest(np.maximum.reduceat(x, starts, axis=1) / 6 * of_scales, E4M3)
    scale = np.repeat(of_groups, np.diff(np.append(starts, x.shape[1])), axis=1)
    quotient = np.divide(x, scale, out=np.zeros_like(x), where=scale > 0)
    return nearest(quotient * of_weights, E2M1) * scale * largest / top


def between(values, relative):
    """A number that is expected in the range of `values`, which are known to a relative error."""
    low, high = min(values), max(values)
    return (low + high) / 2, (high - low) / 2 + relative * high + 1e-12


def zeroed(p, outcomes, near):
    """What of P became 0: the outcomes of all roundings that float32 may give. It may also have 0 for a weight below
    its least number."""
    lost = [(p > 0) & (rounded == 0) for rounded in outcomes]
    shares = [(gone & (p > least)).sum() / max((p > least).sum(), 1) for gone in lost for least in (0, 1e-46, 1e-37)]
    masses = [np.where(gone, p, 0).sum(axis=1).mean() for gone in lost]
    return {"p_zeroed": between(shares, 0) if p.any() else (None, 0), "p_zeroed_mass": between(masses, near)}


def round_weights(head, made, top, share):
    """Rounds P in place, and says how far float32 may move its entries. Returns the figures of what became 0."""
    near = figures.rounding(head, made)
    p, factors = made.p, (1 - min(near, 0.5), 1, 1 + near)
    made.p = rounded_weights(p, top, share)
    outcomes = [rounded_weights(p, top, share, a, b) for a in factors for b in factors]
    made.steps = np.max([np.abs(outcome - made.p) for outcome in outcomes], axis=0)
    if share and near > 1e-3:  # scales in between may round otherwise, by a step of 2 at most
        made.steps += 2 * (1 + near) * p.max(axis=1, keepdims=True, initial=0) / 6
    return zeroed(p, outcomes, near)


def attention(head, smooth, q_rule, k_rule, v_rule, weights=None):
    """Rules are (numbers of the format, rows, columns of a block), or None; `weights` is (top, share)."""
    mean = float32(head.k.mean(axis=0)) if smooth else np.zeros(head.d)
    keys = Rounded("k", float32(head.k - mean) if smooth else head.k, head.k, *k_rule)
    queries = Rounded("q", head.q, head.q, *q_rule) if q_rule else None
    q = queries.x if queries else head.q
    logits = head.scale * (q @ keys.x.T + (head.q @ mean)[:, None])
    made = variants.of_pairs(head, np.ones((head.queries, head.keys)), head.rule(logits))
    made.magnitude = head.scale * float((np.abs(q) @ np.abs(keys.x).T + (np.abs(head.q) @ np.abs(mean))[:, None]).max())
    made.figures = round_weights(head, made, *weights) if weights else {}
    values = Rounded("v", head.v, head.v, *v_rule) if v_rule and head.dv else None
    made.v = values.x if values else None
    for tensor in (queries, keys, values):
        made.figures |= tensor.figures if tensor else {}
    return made


def of_integers(numbers):
    def formula(head, p, drawn):
        values = (E4M3, head.keys, 1) if p["values"] == "fp8" else None
        return attention(head, p["keys"] == "smoothed", (numbers, p["query_block"], head.d),
                         (numbers, p["key_block"], head.d), values, (448, 0) if p["weights"] == "fp8" else None)
    return formula


def fp8(head, p, drawn):
    blocks = p["scale"] == "block"
    queries, keys = (p["query_block"], p["key_block"]) if blocks else (head.queries, head.keys)
    values = (E4M3, head.keys, 1) if p["value_scale"] == "channel" else (E4M3, keys, max(head.dv, 1))
    return attention(head, p["keys"] == "smoothed", (E4M3, queries, head.d) if p["rounded"] == "qkv" else None,
                     (E4M3, keys, head.d), values, (256, 0) if p["weights"] == "fp8" else None)


def nvfp4(head, p, drawn):
    rule = (E2M1, 1, 16)
    return attention(head, p["keys"] == "smoothed", rule if p["rounded"] == "qkv" else None, rule, (E2M1, 16, 1),
                     (448 * 6, 16) if p["weights"] == "nvfp4" else None)


FORMULAS = {"int8": of_integers(INT8), "int4": of_integers(INT4), "fp8": fp8, "nvfp4": nvfp4}
