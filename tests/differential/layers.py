"""A layer of heads drawn at random, as a file of a stranger holds it, and what each of its heads means.

`Layer(seed, number, longest)` is the same layer whenever it is drawn. Rows are normal, huge, tiny, tied, ...;
conditions come in the forms and under the names that programs write.
"""
import math
import os

import numpy as np

import tensor_file
import variants

EXCLUDED = np.finfo(np.float32).min  # what models add to a logit in place of -inf


class Head:
    """What one head computes from, in float64: Z = softmax(cap(scale q k^T) + bias over `allowed`, beside a sink) v."""

    def __init__(self, q, k, v, scale, causal, allowed, bias, cap, sink, index):
        self.q, self.k, self.v, self.scale, self.causal = q, k, v, scale, causal
        self.allowed, self.bias, self.cap, self.sink, self.index = allowed, bias, cap, sink, index
        self.queries, self.keys, self.d, self.dv = len(q), len(k), q.shape[1], 0 if v is None else v.shape[1]
        self.tokens = None  # how many of the keys are tokens, where others stand for some

    def rule(self, logits):
        """What a model does to scaled logits, as of (query, key)."""
        return (self.cap * np.tanh(logits / self.cap) if self.cap else logits) + self.bias

    def logits(self):
        return self.rule(self.scale * (self.q @ self.k.T))

    def magnitude(self):
        """The largest number among the terms that a logit is the sum of: its rounding errors are relative to this."""
        products = self.scale * (np.abs(self.q) @ np.abs(self.k.T))
        return float(products.max()) + float(np.abs(self.bias).max()) + (abs(self.sink) if self.sink is not None else 0)


class Draw:
    """Random numbers of one layer."""

    def __init__(self, *seed):
        self.random = np.random.default_rng(seed)

    def size(self, least, most):
        """From `least` to `most`; small ones as often as large ones."""
        share = self.random.uniform(math.log(least + 1), math.log(most + 2))
        return min(max(int(math.exp(share)) - 1, least), most)

    def of(self, items):
        return items[self.random.integers(len(items))]

    def one_in(self, count):
        return self.random.integers(count) == 0

    def normal(self, *shape):
        return self.random.standard_normal(shape)

    def rows(self, kind, count, width, large):
        """[count, width]; `large` is the largest magnitude of huge ones."""
        normal = self.normal(count, width)
        if kind == "huge":
            return large * self.random.uniform(-1, 1, (count, width))
        if kind == "tiny":
            return 1e-40 * normal
        if kind == "duplicate":
            return normal[np.arange(count) % 3 % max(count, 1)]
        if kind == "equal":
            return np.repeat(normal[:1], count, axis=0)
        if kind == "one-hot":
            return 4.0 * np.eye(width)[self.random.integers(width, size=count)]
        if kind == "constant":
            return np.repeat(normal[:, :1], width, axis=1)
        if kind == "whole":
            return np.round(normal)
        if kind == "zero":
            return np.zeros((count, width))
        if kind == "clusters":
            return 3 * self.normal(3, width)[self.random.integers(3, size=count)] + 0.1 * normal
        return normal


KINDS = ("normal", "normal", "normal", "clusters", "huge", "tiny", "duplicate", "equal", "one-hot", "constant", "whole",
         "zero")


class Layer:
    """[H, n, d] arrays as they are stored, their conditions, and how a file and a command line state them."""

    # Options that stand above what the metadata of a file say. A .npz file has no metadata.
    OPTIONS = {"layout": "--layout", "scale": "--scale", "window": "--window", "softcap": "--softcap"}

    def __init__(self, seed, number, longest):
        self.name = f"python3 tests/differential/run.py --seed {seed} --layer {number} --longest {longest}"
        draw = self.draw = Draw(seed, number)
        self.heads = draw.of([1, 2, 4, 6, 8, 8])
        self.kv_heads = draw.of([h for h in (1, 2, 4, 6, 8) if self.heads % h == 0])
        self.keys = draw.size(1, longest)
        self.queries = draw.size(1, longest) if draw.one_in(5) else self.keys
        self.d = draw.size(1, 48)
        self.dv = 0 if draw.one_in(12) else draw.size(1, 48)
        self.type = draw.of(["F32", "F32", "F32", "F64", "F16", "BF16"])
        self.file = "layer.npz" if self.type != "BF16" and draw.one_in(8) else "layer.safetensors"
        self.source = [self.file]  # with the options that a command needs
        self.layout = draw.of(["[H,n,d]", "[H,n,d]", "[n,H,d]", "[B,H,n,d]", "[B,n,H,d]"])
        self.prefix = draw.of(["", "", "layer0.", "model.layers.0.self_attn."])
        self.metadata, self.tensors = {}, {}
        self.causal = bool(draw.one_in(2))
        self._state("layout", self.layout)
        self.scale = 1 / math.sqrt(self.d)
        if draw.one_in(4):
            self.scale = float(draw.of([1.0, 0.125, 0.3, 2.5]))
            self._state("scale", repr(self.scale))
        if self.causal or draw.one_in(2):
            self._state("causal", draw.of(["true", "True", "1"] if self.causal else ["false", "False", "0"]))
        self._draw_rows()
        self.offset = self.keys - self.queries
        self._draw_conditions()
        self.gradients = {}  # what figures say of those in the file, by head
        self.imported = {}  # what another program computed, as it is read: z, lse, p, kept
        self.runs = None  # [runs, H, n, dv], outputs of its other runs
        if self.dv and draw.one_in(5):
            self._draw_imported()

    def _draw_rows(self):
        draw = self.draw
        large = min(math.sqrt(1e4 / (self.d * self.scale)), 6e4 if self.type == "F16" else 1e9)  # logits reach 1e4
        of_values = 6e4 if self.type == "F16" else 1e13  # numbers beyond 1e14 are refused
        self.kinds = [[draw.of(KINDS) for _ in range(count)] for count in (self.heads, self.kv_heads, self.kv_heads)]

        def stored(kinds, count, width, most):
            rows = np.stack([draw.rows(kind, count, width, most) for kind in kinds])
            if self.type == "F16":  # numbers beyond its largest would be infinite
                rows = np.clip(rows, -6e4, 6e4)
            return rows

        self.q = self._store("q", stored(self.kinds[0], self.queries, self.d, large), self.layout)
        self.k = self._store("k", stored(self.kinds[1], self.keys, self.d, large), self.layout)
        self.v = None
        if self.dv:
            self.v = self._store("v", stored(self.kinds[2], self.keys, self.dv, of_values), self.layout)

    def _store(self, name, rows, layout):
        """Puts [H, n, d] into the file in a layout; what the program reads of it, in float64."""
        kind = self.type
        array = tensor_file.bfloat16(rows) if kind == "BF16" else rows.astype(tensor_file.TYPES[kind])
        moved = np.swapaxes(array, 0, 1) if "n,H" in layout else array
        self.tensors[self.prefix + name] = (kind, moved[None] if "B" in layout else moved)
        seen = tensor_file.of_bfloat16(array) if kind == "BF16" else array.astype(np.float32)  # it computes from fp32
        return seen.astype(np.float64)

    def _draw_conditions(self):
        draw, queries, keys = self.draw, self.queries, self.keys
        self.window = self.cap = None
        self.allowed = np.ones((self.heads, queries, keys), bool)
        self.bias = np.zeros((self.heads, queries, keys))
        self.sinks = None
        self.conditions = []
        self.pairs = False  # conditions on single pairs of a query and a key
        place = np.arange(queries)[:, None] + self.offset  # of each query among the keys
        key = np.arange(keys)[None]
        if self.causal:
            self.allowed &= key <= place
        if draw.one_in(2):
            return
        for condition in ("window", "documents", "mask", "bias", "alibi", "cap", "sinks"):
            if not draw.one_in(4) or (condition == "documents" and queries > keys):
                continue
            self.conditions.append(condition)
            self.pairs |= condition not in ("cap", "sinks")
            getattr(self, "_add_" + condition)(place, key)

    def _put(self, names, kind, array):
        self.tensors[self.prefix + self.draw.of(names)] = (kind, np.asarray(array))

    def _state(self, key, value):
        """In the metadata, of the file or of the layer; or by an option, beside metadata that may say otherwise."""
        own = self.prefix[:-1] + "." + key if self.prefix and key != "layout" and self.draw.one_in(2) else key
        by_option = self.file.endswith(".npz") or (key != "layout" and self.draw.one_in(6))
        if not by_option or self.draw.one_in(2):
            other = {"scale": "7.5", "window": "1", "softcap": "0.25", "causal": "0" if self.causal else "1"}
            self.metadata[own] = other[key] if by_option and key in other else value
        if by_option:
            causal = "--causal" if self.causal else "--no-causal"
            self.source += [causal] if key == "causal" else [self.OPTIONS[key], value]

    def _add_window(self, place, key):
        self.window = self.draw.size(1, self.keys)
        self._state("window", str(self.window))
        self.allowed &= key > place - self.window

    def _add_documents(self, place, key):
        keys = self.keys
        if self.draw.one_in(2):
            begins = np.sort(self.draw.random.integers(0, keys + 1, self.draw.size(0, 4)))  # some may be empty
            begins = np.concatenate([[0], begins, [keys]])
            document = np.searchsorted(begins, np.arange(keys), side="right")
            self._put(["cu_seqlens"], self.draw.of(["I32", "I64"]), begins)
        else:
            document = self.draw.random.integers(0, 3, keys)
            if self.draw.one_in(2):
                document = np.sort(document)
            self._put(["segments", "segment_ids"], self.draw.of(["I32", "I64"]), document)
        self.allowed &= document[place] == document[key]

    def _some_shape(self):
        """Shapes of a mask or a bias: of keys, of pairs, of heads and pairs."""
        return self.draw.of([(self.keys,), (self.queries, self.keys), (self.heads, self.queries, self.keys)])

    def _add_mask(self, place, key):
        kept = self.draw.random.uniform(size=self._some_shape()) < self.draw.of([0.3, 0.7, 0.95])
        if self.draw.one_in(4):
            kept[..., : self.keys // 3] = False  # padding on the left: causal queries without a key
        self.allowed &= kept
        if self.draw.one_in(3):  # as a bias
            self._put(["mask", "attention_mask"], "F32", np.where(kept, 0.0, self.draw.of([-np.inf, EXCLUDED])))
            self.masked_by_bias = True
        else:
            self._put(["mask", "attention_mask", "attn_mask"], self.draw.of(["BOOL", "U8", "I64"]), kept)
            self.masked_by_bias = False

    def _add_bias(self, place, key):
        if getattr(self, "masked_by_bias", False):  # a file has one of them
            return
        shape = self._some_shape()
        bias = self.draw.normal(*shape).astype(np.float32)
        kind = self.draw.of(["normal", "distances", "-inf", "half", "zero"])
        if kind == "distances" and len(shape) > 1:
            bias = np.broadcast_to(np.sin(place - key), shape).astype(np.float32)
        elif kind == "-inf":
            bias[self.draw.random.uniform(size=shape) < 0.3] = self.draw.of([-np.inf, EXCLUDED])
        elif kind == "half":  # the least number of fp16 excludes nothing where all keys of a row have it
            bias[...] = -65504 if self.draw.one_in(2) else np.where(bias > 0, 0, -65504)
        elif kind == "zero":
            bias[...] = 0
        self._put(["bias", "position_bias", "attention_bias"], "F32", bias)
        excluded = bias < -1e30
        self.allowed &= ~excluded
        self.bias = self.bias + np.where(excluded, 0, bias)

    def _add_alibi(self, place, key):
        slopes = (2.0 ** -np.arange(1, self.heads + 1)).astype(np.float32)
        if self.draw.one_in(3):
            slopes = self.draw.normal(self.heads).astype(np.float32)
        self._put(["alibi", "alibi_slopes"], "F32", slopes)
        self.bias = self.bias + slopes[:, None, None].astype(np.float64) * (key - place)

    def _add_cap(self, place, key):
        self.cap = float(self.draw.of([0.5, 1.5, 30.0]))
        self._state("softcap", repr(self.cap))

    def _add_sinks(self, place, key):
        sinks = self.draw.of([0.5, 2.0, 25.0]) * self.draw.normal(self.heads)
        self.sinks = sinks.astype(np.float32).astype(np.float64)
        self._put(["sinks", "s_aux"], "F32", self.sinks)

    def _draw_imported(self):
        draw = self.draw
        parts = draw.of([["z"], ["z", "lse"], ["z", "kept"], ["z", "lse", "kept"], ["p"], ["z", "p"]])
        shape = draw.of([(1, self.queries, self.keys), self.allowed.shape])
        kept = draw.random.uniform(size=shape) < draw.of([0.5, 1.0])
        kept = kept if "kept" in parts else np.ones_like(kept)
        made = [variants.of_pairs(self.head(h), kept[h % len(kept)]) for h in range(self.heads)]
        noise = 1 + draw.of([0, 1e-7, 1e-3, 0.5]) * draw.normal(self.heads, self.queries, 1)
        if "z" in parts:
            z = np.stack([m.p @ self.head(h).v for h, m in enumerate(made)]) * noise
            self.imported["z"] = self._store("z", np.clip(z, -6e4, 6e4) if self.type == "F16" else z, "[H,n,d]")
        if "p" in parts:
            self.imported["p"] = (np.stack([m.p for m in made]) * noise).astype(np.float32).astype(float)
            self._put(["p"], "F32", self.imported["p"])
        if "lse" in parts:
            with np.errstate(invalid="ignore"):
                lse = (np.stack([m.lse for m in made]) * noise[..., 0]).astype(np.float32)
            self.imported["lse"] = lse.astype(float)
            self._put(["lse"], "F32", self.imported["lse"])
        if "kept" in parts:
            self.imported["kept"] = np.broadcast_to(kept, self.allowed.shape)
            self._put(["kept"], draw.of(["BOOL", "U8"]), kept[0] if len(kept) == 1 else kept)
        if "z" in parts and draw.one_in(2):
            self._draw_runs()

    def _draw_runs(self):
        """Outputs of more runs, in which some rows differ from z a little, by rounding or by a lot."""
        draw, z = self.draw, self.imported["z"]
        runs = []
        for _ in range(draw.size(1, 3)):
            rows = draw.random.uniform(size=z.shape[:2]) < draw.of([0, 0.2, 1])
            by = 1 + draw.of([1e-7, 1e-4, 0.5]) * draw.normal(*z.shape)
            runs.append(np.where(rows[..., None], np.clip(z * by, -6e4, 6e4) if self.type == "F16" else z * by, z))
        self.runs = self._store("z_runs", np.stack(runs), "[R,H,n,d]")

    def head(self, h):
        kv = h // (self.heads // self.kv_heads)
        return Head(self.q[h], self.k[kv], None if self.v is None else self.v[kv], self.scale, self.causal,
                    self.allowed[h], self.bias[h], self.cap, None if self.sinks is None else self.sinks[h], h)

    def write(self, folder):
        path = os.path.join(folder, self.file)
        if self.file.endswith(".npz"):
            arrays = {name: array.astype(tensor_file.TYPES[kind]) for name, (kind, array) in self.tensors.items()}
            np.savez(path, **arrays)
        else:
            tensor_file.write(path, self.tensors, self.metadata)

    def imported_of(self, h):
        return {name: tensor[h] for name, tensor in self.imported.items()}

    def describe(self):
        kinds = "; ".join(" ".join(k) for k in self.kinds)
        return (f"{self.queries} queries, {self.keys} keys, d {self.d}, dv {self.dv}, {self.heads} heads on "
                f"{self.kv_heads}, {self.type} {self.layout}, {'causal' if self.causal else 'bidirectional'}, "
                f"scale {self.scale:.4g}, {' '.join(self.conditions) or 'no conditions'}, "
                f"{'with ' + ' '.join(self.imported) if self.imported else 'no result'}, rows: {kinds}")
