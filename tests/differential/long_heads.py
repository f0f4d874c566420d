"""Heads of which rows are sampled: each estimate and its standard error, from the same rows."""
import math

import numpy as np

import compute
import measures
import spans
import triage
from computed import Computed
from layers import Draw, Layer

# Variants with each kind of figure from a sample, at lengths at which it is one.
CASES = ((8300, True, "window", {"width": 350, "sinks": 2}), (8300, True, "snapkv", {"budget": 2000, "window": 8}),
         (8300, True, "moba", {"block": 64, "blocks": 20}), (8300, True, "loglinear", {"fall": 1.0}),
         (8300, False, "h1d", {"block": 1024}),
         (3000, True, "h1d", {"block": 2}), (600, True, "window", {"width": 40}))


class FixedLayer(Layer):
    """One head of normal rows in fp32."""

    def __init__(self, keys, causal, d=3, dv=2):
        self.name, self.draw = f"a head of {keys} tokens", Draw(keys)
        random = np.random.default_rng(keys)
        self.heads = self.kv_heads = 1
        self.queries = self.keys = keys
        self.d, self.dv, self.type, self.layout = d, dv, "F32", "[H,n,d]"
        self.file, self.prefix = f"long {keys}.safetensors", ""
        self.source, self.metadata, self.tensors = [self.file], {"causal": str(causal).lower()}, {}
        self.causal, self.scale, self.offset = causal, 1 / math.sqrt(d), 0
        self.q, self.k, self.v = (self._store(name, 1.5 * random.standard_normal((1, keys, width)), self.layout)
                                  for name, width in (("q", d), ("k", d), ("v", dv)))
        self.allowed = np.ones((1, keys, keys), bool)
        if causal:
            self.allowed = np.tril(self.allowed)
        self.bias, self.cap, self.sinks = np.zeros((1, 1, 1)), None, None
        self.conditions, self.pairs, self.imported, self.gradients = [], False, {}, {}
        self.runs = None
        self.kinds = [["normal"]] * 3


def check(program):
    """Lines that say what is wrong."""
    wrong, layers = [], {}
    for keys, causal, variant, values in CASES:
        if (keys, causal) not in layers:
            layers.clear()  # one at a time fits into memory
            layer = FixedLayer(keys, causal)
            layer.write(program.folder)
            layers[keys, causal] = layer, Computed(program, layer, "exact", {}, 0)
        layer, exact = layers[keys, causal]
        computed = Computed(program, layer, variant, values, 0)
        lines = compute.check(layer, exact, computed)
        if keys == 3000:  # its effective rank is estimated
            lines += measures.check(program, layer, exact, computed)
        if (keys, variant) == (8300, "window"):
            lines += spans.check_long(program, layer, computed) + measures.check(program, layer, exact, computed)
            lines += triage.check(program, layer, exact, computed, budget=0.1)
        wrong += [f"{layer.name}, {variant}: {line}" for line in lines]
    return wrong
