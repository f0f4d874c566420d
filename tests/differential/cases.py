"""What random layers show too rarely: each variant, and numbers that only some options or odd heads add."""
import os

import numpy as np

import choices
import compared
import compute
import gradients
import measures
import rankmap
import settings
import spans
import triage
from computed import Computed
from layers import Layer
from long_heads import FixedLayer
from program import Refused

FAR = 5000  # layers are tried up to this one


def layer_with(wanted, seed=2, longest=40):
    """The first layer that has what is wanted."""
    return next(layer for layer in (Layer(seed, number, longest) for number in range(1, FAR)) if wanted(layer))


def plain(layer):
    """A head with room for settings, without anything that a variant may refuse."""
    return (layer.keys >= 12 and layer.queries == layer.keys and layer.dv > 0 and not layer.conditions
            and layer.type == "F32" and not layer.imported and "huge" not in str(layer.kinds))


# Settings beside random ones: of theory, learned trees, vectors of any length.
ALSO = {"hyper": {"block": 4, "samples": 5, "projections": 3, "min_length": 0, "mode": "theory", "epsilon": 0.5, "kappa": 3.0},
        "tf": {"height": 2, "tree": "learned", "steps": 2, "cost": 2.0},
        "tc": {"branching": "3,2", "tree": "learned", "steps": 2, "cost": 2.0},
        "fixed": {"stride": 4, "summary": 1, "heads": "merged", "subblocks": 2, "sinks": 2},
        "delta": {"beta": 0.01, "half_life": 8, "vectors": "as_given"}, "moba": {"block": 3, "blocks": 2}}


def every_variant(program):
    """Each variant with random settings, some with chosen ones, and a map and spans of one."""
    wrong = []
    for variant in (*settings.PAIRS, *settings.CAP_AND_SINK, *settings.NOTHING):
        layer = layer_with(lambda layer: plain(layer) and settings.takes(variant, layer)
                           and not (layer.causal and variant == "hyper"))
        layer.write(program.folder)
        exact = Computed(program, layer, "exact", {}, 0)
        for values in (settings.drawn(variant, layer, layer.draw), ALSO.get(variant)):
            if values is None:
                continue
            computed = Computed(program, layer, variant, values, 1)
            wrong += compute.check(layer, exact, computed)
        if variant == "moba":
            for of in (rankmap, spans, measures):
                wrong += of.check(program, layer, exact, computed)
    return wrong


def choices_of(program):
    """Many seeds of one head, a parameter as the cost, learned trees, heads that are refused or have no number."""
    wrong = []

    def check(wanted, *arguments, **options):
        layer = layer_with(wanted)
        layer.write(program.folder)
        wrong.extend(choices.check(program, layer, *arguments, **options))

    check(lambda layer: plain(layer) and layer.heads == 1, ["hyper", "window"], 3, at_most=1.5, seeds=7)
    check(plain, ["moba"], 3, x="block", y="output_rel_fro")
    check(lambda layer: plain(layer) and layer.heads == 2, ["tf"], 3, y="output_rel_fro", more=("--learn", 3))
    check(lambda layer: plain(layer) and layer.heads == 8, ["window"], 3, y="mass_kept", x="ratio_to_exact")
    check(lambda layer: layer.pairs and layer.dv and layer.keys > 4, ["linear", "oracle", "tf"], 3)
    check(lambda layer: plain(layer) and layer.heads == 8 and not layer.causal, ["linformer"], 3, y="attention_kl")
    same = FixedLayer(32, True)  # every attention of equal values has their output
    same.v[:] = 1
    same._store("v", same.v, same.layout)
    same.write(program.folder)
    return wrong + choices.check(program, same, ["window", "moba"], 3, y="output_rel_fro", at_most=1.0)


TEXTS = ("The cat sat on the mat.", "It rained all day, and the mat was wet by night.", "Cats do not like wet mats.")


def inputs(program):
    """`heads --measures` of several texts: the mean over them, and its deviation."""
    folder = os.path.join(program.folder, "texts")
    os.mkdir(folder)
    for number, text in enumerate(TEXTS):
        with open(os.path.join(folder, f"{number}.txt"), "w") as file:
            file.write(text)
    words = ["heads", "bundled:text", "--measures", "--layer", 2]
    alone = [program.json(*words, "--text", text)["heads"] for text in TEXTS]
    together = program.json(*words, "--input", "texts")
    expected = {"seed": (0, 0)}
    for place, heads in enumerate(zip(*alone)):
        where = f"heads[{place}]."
        expected |= {where + name: (heads[0][name], 0) for name in ("layer", "head")}
        for name in ("queries", "keys", "rows", "rows_without_keys"):
            expected |= {f"{where}{name}[{i}]": (head[name], 0) for i, head in enumerate(heads)}
        measures = [name for name in heads[0] if f"{name}_inputs" in together["heads"][place]]
        for name in measures:
            values = [head[name] for head in heads if head[name] is not None]
            expected[where + name] = (np.mean(values) if values else None, 1e-12)
            expected[where + name + "_deviation"] = (np.std(values, ddof=1) if len(values) > 1 else None, 1e-12)
            expected[where + name + "_inputs"] = (len(values), 0)
    return compared.differences(together, expected, ("inputs[", "backend", "device", "precision", "notes[", "measures[",
                                                     "heads["))


def triaged(program):
    wrong = []
    for keys in (40, 70, 100, 101):
        for causal in (False, True):
            layer = FixedLayer(keys, causal)
            layer.write(program.folder)
            wrong += triage.check(program, layer, Computed(program, layer, "exact", {}, 0), None)
    return wrong


def no_keys(program):
    """A mask leaves no pair, so that ratios and means of rows with keys are not defined."""
    layer = FixedLayer(16, False)
    layer.allowed[:] = False
    layer.tensors["mask"] = ("BOOL", layer.allowed[0])
    layer.write(program.folder)
    exact, computed = (Computed(program, layer, variant, values, 0) for variant, values in
                       (("exact", {}), ("hyper", {"block": 4, "samples": 4, "min_length": 0})))
    return compute.check(layer, exact, computed)


class CompressedLayer(FixedLayer):
    """Two heads that share keys: tokens of a window, and entries that stand for some of them, beside a sink."""

    def __init__(self, tokens, size, window, chosen):
        super().__init__(tokens, True)
        self.name, self.tokens, entries = f"{tokens} tokens and entries of {size}", tokens, tokens // size
        random = np.random.default_rng(tokens + size)
        self.heads, self.keys, self.window = 2, tokens + entries, window
        self.q = self._store("q", random.standard_normal((2, tokens, self.d)), self.layout)
        for name, rows in (("k", self.k), ("v", self.v)):
            means = rows[:, :entries * size].reshape(1, entries, size, -1).mean(axis=2)
            setattr(self, name, np.concatenate([rows, self._store(name + "_extra", means, self.layout)], axis=1))
        ends = (np.arange(entries) + 1) * size
        self.tensors["extra_tokens"] = ("I32", np.stack([ends - size, ends], axis=1))
        self.metadata["window"] = str(window)
        self.sinks = np.array([0.5, -1.0])
        self.tensors["sinks"] = ("F32", self.sinks)
        place = np.arange(tokens)[:, None]
        distance = place - np.arange(tokens)
        seen = np.broadcast_to(ends <= place + 1, (2, tokens, entries))
        if chosen:
            lists = random.integers(-1, entries, (2, tokens, chosen))
            self.tensors["extra_indices"] = ("I64", lists)
            seen = seen & (lists[..., None] == np.arange(entries)).any(axis=2)
        near = np.broadcast_to((distance >= 0) & (distance < window), (2, tokens, tokens))
        self.allowed = np.concatenate([near, seen], axis=2)
        self.bias, self.pairs = np.zeros((2, 1, 1)), True
        self.imported["p"] = np.where(self.allowed, 0.125, 0.0)
        self.tensors["p"] = ("F32", self.imported["p"])

    def head(self, h):
        head = super().head(h)
        head.tokens = self.tokens
        return head


def compressed_entries(program):
    """Variants that take keys which are no tokens, and a refusal of one that does not."""
    wrong = []
    for layer in (CompressedLayer(24, 4, 5, 0), CompressedLayer(33, 2, 3, 4)):
        layer.write(program.folder)
        exact = Computed(program, layer, "exact", {}, 0)
        for variant, values in (("exact", {}), ("dsa", {"tokens": 4}), ("oracle", {"block": 3, "blocks": 4}),
                                ("tf", {"height": 1}), ("int8", {}), ("nvfp4", {}), ("imported", {})):
            computed = exact if variant == "exact" else Computed(program, layer, variant, values, 1)
            wrong += [f"{layer.name}, {variant}: {line}" for line in compute.check(layer, exact, computed)]
        try:
            Computed(program, layer, "window", {}, 0)
            wrong.append(f"{layer.name}: window is not refused")
        except Refused as refusal:
            if "takes all keys for the tokens of a sequence" not in str(refusal):
                wrong.append(f"{layer.name}: window is refused with {refusal}")
    return wrong


ALL = (no_keys, compressed_entries, every_variant, choices_of, inputs, triaged, gradients.check)


def check(program):
    """Lines that say what is wrong."""
    wrong = []
    for case in ALL:
        try:
            lines = case(program)
        except Exception as error:
            if os.environ.get("FOVEA_TRACE"):
                raise
            lines = [f"{type(error).__name__}: {error}"]
        wrong += [f"{case.__name__}: {line}" for line in lines]
    return wrong
