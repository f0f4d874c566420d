"""`fovea compute --json` and what it writes, head by head."""
import copy
import math

import numpy as np

import caches
import figures
from figures import rounding
import precisions
import recurrences
import selected
import variants
from compared import Document, differences, leaves

TEXTS = ("variant", "source", "backend", "device", "precision", "conditions", "notes")
OF_METRICS = ("mass_kept", "top1_recall", "top8_recall", "top64_recall")


FORMULAS = variants.FORMULAS | selected.FORMULAS | caches.FORMULAS | recurrences.FORMULAS | precisions.FORMULAS


def tensors_differ(head, made, computed, index):
    """P, Z and lse against the formula."""
    wrong = []

    def compare(name, found, expected, error):
        with np.errstate(invalid="ignore"):
            # Of equal infinities the difference is NaN.
            far = ~(np.abs(found - expected) <= error) & (found != expected)
        if far.any():
            at = tuple(int(x) for x in np.argwhere(far)[0])
            error = np.broadcast_to(error, expected.shape)
            wrong.append(f"{name}{list(at)} is {found[at]}; expected {expected[at]} within {error[at]:.2g}, "
                         f"and {int(far.sum()) - 1} more")

    relative = 0 if made.is_read else rounding(head, made)
    if made.p is None:
        compare("z", computed.of_head("z", index), made.z, 0)
        return wrong
    entries = np.abs(made.p) if made.bound is None else made.bound
    smallest = 1e-37 * head.keys  # numbers below are denormal or 0 in float32
    compare("p", computed.of_head("p", index), made.p, relative * entries + smallest + made.steps)
    if head.dv:
        values = head.v if made.v is None else made.v
        error = (rounding(head, made) * entries + made.steps) @ np.abs(values) + smallest * max(1, np.abs(values).max())
        z = made.p @ values if made.z is None else made.z
        compare("z", computed.of_head("z", index), z, error if made.z is None else 0)
    lse = computed.of_head("lse", index)
    if made.lse is not None and lse is not None:
        finite = np.where(np.isfinite(made.lse), made.lse, 0)
        error = 0 if made.given else figures.logit_error(head, made) + 2 * figures.UNIT * np.abs(finite)
        compare("lse", lse, made.lse, error)
    return wrong


def figures_of(layer, head, exact_made, made, exact, computed, index):
    """{name: (value, error)} of one entry of `metrics`."""
    written = figures.Written(exact, computed, index)
    expected = {"head": (index, 0)}
    if head.dv:
        expected |= figures.of_outputs(written.exact_z, written.approximate_z)
    else:
        names = ("output_rel_fro", "output_rel_l1", "output_cosine", "output_min_cosine", "output_pearson", "output_max_abs", "row_rel_error.p50", "row_rel_error.p90", "row_rel_error.max")
        expected |= {name: (None, 0) for name in names}
    if made.p is not None:
        expected |= figures.of_attention(head, made, written)
    variant = computed.variant
    if variant == "imported":
        expected |= figures.of_imported(layer, head, exact_made, made, written)
        expected |= figures.of_recall(head, made, written) | layer.gradients.get(index, {})
    elif "z" in layer.imported:
        expected["from_own_output"] = figures.from_own_output(written, layer.imported["z"][index])
    if variant in ("fixed", "strided", "longformer", "bigbird", "window", "reformer", "sta", "svg", "radial"):
        expected |= figures.of_key_sets(head, made)
    if variant in selected.FORMULAS:
        expected |= figures.of_selection(head, made, written)
        if variant == "dsa":  # single pairs are not walked through two layers
            expected.pop("two_hop_reach", None)
    if variant in caches.FORMULAS:
        expected |= figures.of_evictions(head, computed.structure(index)["evicted"], written)
    if variant in recurrences.FORMULAS:
        expected |= figures.of_gates(head, computed.structure(index), computed.document["parameters"],
                                     written.approximate)
    if variant in precisions.FORMULAS:
        expected |= made.figures
    if made.leaves is not None:
        expected |= figures.of_leaves(made)
    if made.levels is not None:
        expected |= figures.of_levels(head, made, written, computed.document["parameters"]["causal_query"])
    if variant == "hyper" and made.blocks is not None:
        expected |= figures.of_sampling(head, made, exact_made.p, written)
    return expected


def sampled_differ(where, entry, expected):
    """Whether a head names the figures of its paper that are from a sample: those with a standard error of their own."""
    names = {name.removesuffix("_standard_error") for name in expected if name.endswith("_standard_error")}
    names = {name for name in names if name not in OF_METRICS and not name.startswith("attention_")}
    found = entry.pop("from_sampled_rows", [])
    return [] if set(found) == names else [f"{where}.from_sampled_rows is {found}; expected {sorted(names)}"]


def times_differ(times, path="timings_ms"):
    """Times have no formula, but an order."""
    wrong = []
    for name, time in times.items():
        if name in ("first_run", "speed_up", "slow_machine"):
            continue
        if sorted(time) != ["median", "p10", "p90", "samples"]:
            wrong.append(f"no formula for {path}.{name}: {sorted(time)}")
        elif not time["p10"] <= time["median"] <= time["p90"]:
            wrong.append(f"{path}.{name} is {time}; expected p10 <= median <= p90")
    return wrong


def check(layer, exact, computed):
    """Lines that say what is wrong with what was computed of a layer."""
    document = Document(computed.document.command, copy.deepcopy(dict(computed.document)))
    wrong = times_differ(document["timings_ms"] or {})  # null: it was not computed here
    parameters = document["parameters"]
    multiply_adds = pairs = 0
    expected = {"seed": (computed.seed, 0), "layer": (0, 0), "scale": (layer.scale, 0), "causal": (layer.causal, 0),
                "n": (layer.keys, 0), "queries": (layer.queries, 0), "keys": (layer.keys, 0), "d": (layer.d, 0),
                "dv": (layer.dv, 0), "heads": (layer.heads, 0)}
    for path, value in leaves(parameters):
        own = path in computed.chosen  # what was not set is taken from the program
        expected["parameters." + path] = (computed.chosen[path], 0) if own else (value, math.inf)
    for index in range(layer.heads):
        head = layer.head(index)
        drawn = layer.imported_of(index) if computed.variant == "imported" else computed.structure(index)
        exact_made = variants.exact(head, {}, {})
        made = FORMULAS[computed.variant](head, parameters, drawn)
        if computed.variant == "hyper" and made.p is not None and np.abs(made.p).max() > figures.GREATEST:
            return wrong  # the caps of theory mode may leave a sum next to nothing: weights beyond float32
        multiply_adds += made.multiply_adds
        pairs += head.allowed.sum() * (head.d + head.dv)
        where = f"metrics[{index}]"
        wrong += [f"head {index}: {line}" for line in tensors_differ(head, made, computed, index)]
        own = figures_of(layer, head, exact_made, made, exact, computed, index)
        wrong += sampled_differ(where, document["metrics"][index], own)
        expected |= {f"{where}.{name}": figure for name, figure in own.items()}
    expected["cost.multiply_adds"] = (multiply_adds, 0)
    expected["cost.exact_multiply_adds"] = (float(pairs), 0)
    ratio = multiply_adds / pairs if pairs else math.inf if multiply_adds else None  # a mask may admit no pair
    expected["cost.ratio_to_exact"] = (ratio, 1e-15 * ratio if pairs else 0)
    return wrong + differences(document, expected, TEXTS)
