"""Compares a recorded call with the model's own output: a condition that is missing shows here."""
from __future__ import annotations

from typing import Any, Optional

from .arrays import ROUNDING, numbers_of, type_of
from .call import Call
from .compressed import seen_entries
from .conditions import seen_pairs
from .errors import need

ROWS = 256  # of the queries, evenly spread, are computed


def plain_attention(call: Call, head: int, rows: Any) -> Any:
    """The output [rows, dv] of a head in float32 by the plain formula, and the size [rows] of its logits.

    That is the mean, by the weights, of |scale q.k| and |bias|: rounding a logit changes the output as much as its
    pair has weight. Rows which may attend to no key are NaN: they have no attention.
    """
    numpy = need("numpy", "Checking a recording")
    c = call.conditions
    group = call.heads // int(call.k.shape[0])
    q = numbers_of(call.q[head])[rows].astype(numpy.float32)
    k, v = (numbers_of(array[head // group]).astype(numpy.float32) for array in (call.k, call.v))
    scale = q.shape[1] ** -0.5 if c.scale is None else c.scale
    if call.compressed:
        k, v = (numpy.concatenate([array, numbers_of(call.compressed[name][head // group]).astype(numpy.float32)])
                for array, name in ((k, "k_extra"), (v, "v_extra")))
    logits = numpy.float32(scale) * (q @ k.T)
    size = numpy.abs(logits)
    if c.softcap is not None:
        logits = numpy.float32(c.softcap) * numpy.tanh(logits / numpy.float32(c.softcap))
    added = numpy.zeros((), numpy.float32)
    if c.bias is not None:
        bias = c.bias[head] if c.bias.ndim == 3 else c.bias
        added = (bias if bias.ndim == 1 else bias[rows]).astype(numpy.float32)
    if c.alibi is not None:
        places = rows + (call.keys - call.queries)
        added = added + c.alibi[head] * (numpy.arange(call.keys)[None, :] - places[:, None])
    logits, size = logits + added, size + numpy.abs(added)
    seen = seen_pairs(c, call.queries, call.keys, rows)
    seen = seen[head] if seen.ndim == 3 else seen
    if call.compressed:
        entries = seen_entries(call.compressed, bool(c.causal), call.keys - call.queries, rows, head,
                               call.heads)
        seen = numpy.concatenate([seen, entries], axis=1)
    logits = numpy.where(seen, logits, -numpy.inf).astype(numpy.float32)
    top = logits.max(axis=1, keepdims=True)
    if c.sinks is not None:
        top = numpy.maximum(top, numpy.float32(c.sinks[head]))
    with numpy.errstate(invalid="ignore"):
        weights = numpy.exp(logits - top)
        total = weights.sum(axis=1, keepdims=True)
        if c.sinks is not None:
            total = total + numpy.exp(numpy.float32(c.sinks[head]) - top)
        weights = weights / total
        output = weights @ v
        size = (weights * numpy.where(seen, size, 0)).sum(axis=1)
    output[~seen.any(axis=1)] = numpy.nan
    return output, size


def difference(call: Call, head: int = 0, short_logits: bool = True) -> Optional[str]:
    """What is wrong with a head of a call, in words; None where it equals the model's output.

    The bound of a row is the rounding of the type, of logits too if `short_logits` (else those are float32). Rows
    which see nothing are left out.
    """
    numpy = need("numpy", "Checking a recording")
    if call.z is None or not call.queries or not call.keys:
        return None
    count = min(call.queries, ROWS)
    rows = numpy.unique(numpy.linspace(0, call.queries - 1, count).round().astype(int))
    output, logits = plain_attention(call, head, rows)
    model = numbers_of(call.z[head])[rows].astype(numpy.float32)
    some = ~numpy.isnan(output).any(axis=1)
    if not some.any():
        return None
    errors = numpy.abs(output - model)[some].max(axis=1)
    group = call.heads // int(call.k.shape[0])
    extra = (call.compressed or {}).get("v_extra")
    values = [call.v] if extra is None else [call.v, extra]
    size = max(float(numpy.abs(numbers_of(array[head // group])).max()) for array in values)
    rounding = max(ROUNDING.get(type_of(call.z), 2.0**-23), 2.0**-23)
    of_logits = rounding if short_logits else 2.0**-23
    bounds = size * (4 * rounding + of_logits * (4 * logits[some] + float(call.q.shape[2]) ** 0.5))
    worst = int(numpy.argmax(errors - bounds))  # a NaN counts as the most
    if errors[worst] <= bounds[worst]:
        return None
    return (f"the output computed from what was recorded differs from the model's own by {errors[worst]:.2g}, and "
            f"rounding explains {bounds[worst]:.2g}: the file lacks something that this attention adds to its logits "
            "or weights")
