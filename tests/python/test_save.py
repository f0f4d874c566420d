"""fovea.save, with NumPy alone and with PyTorch."""
import json
import re
import unittest

from package import InFolder, needs


@needs("numpy")
class Save(InFolder):
    def setUp(self):
        super().setUp()
        import numpy

        import fovea

        self.np, self.fovea = numpy, fovea
        random = numpy.random.default_rng(1)
        self.q = random.normal(size=(4, 5, 3)).astype("f4")
        self.k = random.normal(size=(2, 7, 3)).astype("f4")
        self.v = random.normal(size=(2, 7, 6)).astype("f4")

    def save(self, **more):
        self.fovea.save(self.path(), self.q, self.k, self.v, **more)
        return self.fovea.read(self.path())

    def test_only_what_is_given_is_said(self):
        content = self.save()
        self.assertEqual(content.metadata, {"layout": "[H,n,d]"})
        self.assertEqual(sorted(content.arrays), ["layer0.k", "layer0.q", "layer0.v"])
        self.assertTrue((content.arrays["layer0.q"] == self.q).all())

    def test_all_that_can_be_said(self):
        ones = self.np.ones(4)
        content = self.save(name="a.b", tokens=list("abcde"), key_tokens=list("abcdefg"), scale=0.25, causal=True,
                            window=3, softcap=50, alibi=ones, sinks=ones, bias=self.q[:, :, :1] * self.np.ones(7, "f4"),
                            z=self.np.zeros((4, 5, 6), "f4"), mask=self.np.arange(7) > 1, model="mine")
        said = content.metadata
        self.assertEqual(json.loads(said["tokens"]), list("abcde"))
        self.assertEqual(json.loads(said["key_tokens"]), list("abcdefg"))
        self.assertEqual((said["scale"], said["causal"], said["window"], said["softcap"], said["model"]),
                         ("0.25", "true", "3", "50.0", "mine"))
        self.assertEqual({name: array.shape for name, array in content.arrays.items()},
                         {"a.b.q": (4, 5, 3), "a.b.k": (2, 7, 3), "a.b.v": (2, 7, 6), "a.b.z": (4, 5, 6),
                          "a.b.mask": (7,), "a.b.bias": (4, 5, 7), "a.b.alibi": (4,), "a.b.sinks": (4,)})
        self.assertEqual(content.types["a.b.alibi"], "F32")

    def test_compressed_entries(self):
        np = self.np
        extra = dict(k_extra=self.k[:, :3], v_extra=self.v[:, :3], extra_tokens=[[0, 2], [2, 4], [3, 7]])
        content = self.save(**extra, window=2, sinks=np.ones(4), extra_indices=np.zeros((5, 2), "i4"),
                            kept=np.ones((5, 10), bool))
        self.assertEqual((content.metadata["causal"], content.metadata["window"]), ("true", "2"))
        self.assertEqual({name: content.arrays[f"layer0.{name}"].shape for name in (*extra, "extra_indices")},
                         {"k_extra": (2, 3, 3), "v_extra": (2, 3, 6), "extra_tokens": (3, 2), "extra_indices": (5, 2)})
        self.assertTrue((content.arrays["layer0.k_extra"] == self.k[:, :3]).all())
        self.assertEqual(self.save(**extra, causal=False).metadata["causal"], "false")
        self.fovea.save(self.path(), self.q[0], self.k[0], None, k_extra=self.k[0, :3],
                        extra_tokens=extra["extra_tokens"])
        self.assertEqual(self.fovea.read(self.path()).arrays["layer0.k_extra"].shape, (1, 3, 3))
        wrong = [
            (dict(k_extra=None), "v_extra and extra_tokens without k_extra; expected both"),
            (dict(extra_tokens=None), "k_extra and v_extra without extra_tokens; expected both"),
            (dict(v_extra=None), "v and v_extra: expected both, or neither"),
            (dict(v_extra=self.v[:, :2]), r"v_extra has the shape \[2, 2, 6\]; expected \[Hkv, m, dv\], here \[2, 3, 6\]"),
            (dict(k_extra=self.k[:1, :3]), r"k_extra has the shape \[1, 3, 3\]; expected \[Hkv, m, d\], here \[2, 3, 3\]"),
            (dict(extra_tokens=[[0, 2]]), r"extra_tokens has the shape \[1, 2\]; expected \[3, 2\]"),
            (dict(extra_tokens=np.ones((3, 2))), "extra_tokens has the type float64; expected integers"),
            (dict(extra_tokens=[[0, 2], [2, 2], [3, 7]]), "extra_tokens has an entry without tokens"),
            (dict(extra_tokens=[[0, 2], [2, 4], [3, 8]]), "to stand for some of the 7 tokens"),
            (dict(extra_tokens=[[2, 4], [0, 4], [3, 7]]), "extra_tokens are not in order"),
            (dict(extra_tokens=[[0, 4], [2, 3], [3, 7]]), "extra_tokens are not in order"),
            (dict(extra_indices=np.zeros((4, 2), "i4")), r"extra_indices has the shape \[4, 2\]; expected \[5, entries\]"),
            (dict(extra_indices=np.zeros((3, 5, 2), "i4")), r"extra_indices has the shape \[3, 5, 2\]"),
            (dict(extra_indices=np.full((5, 2), 3)), "extra_indices has 3 to 3; expected -1 to 2"),
            (dict(extra_tokens=[[0, 2], [2, 4], [3, 2**31]]), "extra_tokens has 2147483648; expected numbers of tokens"),
            (dict(extra_indices=np.full((5, 2), 2**40)), "extra_indices has 1099511627776; expected numbers of tokens"),
            (dict(extra_indices=np.full((5, 2), -2)), "extra_indices has -2 to -2; expected -1 to 2"),
            (dict(bias=np.ones((5, 7), "f4")), "bias beside k_extra: they are not written together; expected one of them"),
            (dict(kept=np.ones((5, 7), bool)), r"kept has the shape \[5, 7\]"),
        ]
        for given, message in wrong:
            with self.assertRaisesRegex(self.fovea.FoveaError, message):
                self.save(**{**extra, **given})
        with self.assertRaisesRegex(self.fovea.FoveaError, "5 queries and 3 tokens beside k_extra"):
            self.fovea.save(self.path(), self.q, self.k[:, :3], self.v[:, :3], k_extra=self.k, v_extra=self.v,
                            extra_tokens=[[0, 1]] * 7)

    def test_heads_of_compressed_entries(self):
        from fovea.save import call_of

        of_heads = self.np.arange(4 * 5, dtype="i4").reshape(4, 5, 1) % 3
        call = call_of(self.q, self.k, self.v, k_extra=self.k[:, :3], v_extra=self.v[:, :3],
                       extra_tokens=[[0, 2], [2, 4], [3, 7]], extra_indices=of_heads)
        one = call.of_heads([3])
        self.assertTrue((one.compressed["k_extra"] == self.k[1:, :3]).all())
        self.assertTrue((one.compressed["v_extra"] == self.v[1:, :3]).all())
        self.assertTrue((one.compressed["extra_indices"] == of_heads[3:]).all())
        one.check()

    def test_the_output_of_compressed_entries_is_checked(self):
        """Against P in float64, straight from the definition, for queries that are the last tokens."""
        from fovea.check import difference
        from fovea.save import call_of

        np, random = self.np, self.np.random.default_rng(0)
        heads, keys, entries, queries = 4, 12, 6, 5
        spans = [[2 * e, 2 * e + 2] for e in range(entries)]
        for size, choice_heads in ((1, 0), (1, 1), (1000, 2), (1, 4)):
            arrays = {name: random.normal(size=shape).astype("f4") for name, shape in {
                "q": (heads, queries, 8), "k": (2, keys, 8), "v": (2, keys, 3),
                "k_extra": (2, entries, 8), "v_extra": (2, entries, 3)}.items()}
            arrays["v_extra"] *= size
            lists = random.integers(-1, entries, (choice_heads, queries, 3)) if choice_heads else None
            z = np.zeros((heads, queries, 3), "f4")
            for h in range(heads):
                for i in range(queries):
                    t = keys - queries + i
                    seen = list(range(t - 2, t + 1))
                    for e in range(entries):
                        chosen = lists is None or e in lists[h * choice_heads // heads, i]
                        if chosen and spans[e][1] <= t + 1:
                            seen.append(keys + e)
                    k, v = (np.concatenate([arrays[n][h // 2], arrays[n + "_extra"][h // 2]]) for n in "kv")
                    weights = np.exp(k[seen].astype("f8") @ arrays["q"][h, i] / 8**0.5)
                    z[h, i] = weights / weights.sum() @ v[seen]
            extra = {"k_extra": arrays["k_extra"], "v_extra": arrays["v_extra"], "extra_tokens": spans}
            # A file holds one choice for all heads, or one for each.
            if lists is not None:
                lists = lists[0] if choice_heads == 1 else lists.repeat(heads // choice_heads, axis=0)
            call = call_of(arrays["q"], arrays["k"], arrays["v"], z=z, window=3, **extra, extra_indices=lists)
            for h in range(heads):
                self.assertIsNone(difference(call, h))
            for wrong in (dict(window=4), dict(extra, extra_indices=np.full((queries, 1), -1)),
                          dict(extra, v_extra=arrays["v_extra"] * 1.01)):
                other = call_of(arrays["q"], arrays["k"], arrays["v"], z=z,
                                **{"window": 3, **extra, "extra_indices": lists, **wrong})
                self.assertIsNotNone(difference(other, 1), wrong.keys())

    def test_a_recurrence(self):
        q, gates = self.q.repeat(2, axis=1)[:, :7], -self.np.ones((4, 7))
        k, v = self.k.repeat(2, axis=0), self.v.repeat(2, axis=0)
        cases = [
            (dict(beta=-gates, log_decay=gates), "delta", ["beta", "log_decay"]),
            (dict(log_decay=gates[..., None].repeat(3, axis=2)), "linear", ["log_decay"]),
            (dict(beta=-gates, recurrence="linear"), "linear", ["beta"]),
            (dict(recurrence="delta"), "delta", []),
        ]
        for given, name, tensors in cases:
            self.fovea.save(self.path(), q, k, v, **given)
            content = self.fovea.read(self.path())
            self.assertEqual((content.metadata["recurrence"], content.metadata["causal"]), (name, "true"))
            self.assertEqual(sorted(content.arrays), sorted(f"layer0.{part}" for part in [*tensors, "k", "q", "v"]))
        wrong = [
            (dict(recurrence="gated"), "recurrence is 'gated'; expected 'linear' or 'delta'"),
            (dict(beta=[[1] * 7] * 4), "beta has the type I64"),
            (dict(log_decay=gates[:, 1:]), r"log_decay has the shape \[4, 6\]; expected \[4, 7\] or \[4, 7, 3\]"),
            (dict(log_decay=gates[0]), r"log_decay has the shape \[7\]; expected \[4, 7\] or \[4, 7, 3\]"),
            (dict(log_decay=gates[0, :, None].repeat(3, axis=1)), r"log_decay has the shape \[7, 3\]; expected"),
            (dict(beta=-gates[None].repeat(2, axis=0)), r"beta has the shape \[2, 4, 7\]; expected \[4, 7\]"),
            (dict(log_decay=-gates), "log_decay holds numbers above 0"),
            (dict(beta=gates * self.np.nan), "beta holds something other than finite numbers"),
            (dict(beta=gates[..., None].repeat(3, axis=2)), r"beta has the shape \[4, 7, 3\]; expected \[4, 7\]"),
            (dict(log_decay=gates, causal=False), "a recurrence sees the tokens before each one; expected causal=True"),
            (dict(log_decay=gates, window=3, sinks=self.np.ones(4)), "window, sinks: of a softmax"),
            (dict(log_decay=gates, kept=self.np.eye(7, dtype=bool)), "kept: of a softmax"),
        ]
        for given, message in wrong:
            with self.assertRaisesRegex(self.fovea.FoveaError, message):
                self.fovea.save(self.path(), q, k, v, **given)
        with self.assertRaisesRegex(self.fovea.FoveaError, "5 queries and 7 keys; a recurrence has one of each"):
            self.save(recurrence="delta")

    def test_gates_of_one_head_and_of_a_batch_of_one(self):
        """Each in any form, whatever that of q is; also where tokens are as many as heads or channels."""
        for heads, tokens, channels in ((4, 7, 3), (1, 7, 3), (1, 3, 3), (3, 3, 3), (1, 1, 3), (4, 1, 1)):
            q = self.np.random.default_rng(2).normal(size=(heads, tokens, channels)).astype("f4")
            beta, log_decay = abs(q[:, :, 0]), -abs(q)

            def forms(array):
                return [array, array[None], *([array[0]] if heads == 1 else [])]

            for given_q in forms(q):
                for array, name in ((beta, "beta"), (-beta, "log_decay"), (log_decay, "log_decay")):
                    for gate in forms(array):
                        with self.subTest(q=given_q.shape, gate=gate.shape):
                            self.fovea.save(self.path(), given_q, given_q, given_q, recurrence="delta", **{name: gate})
                            written = self.fovea.read(self.path()).arrays[f"layer0.{name}"]
                            self.assertEqual(written.tolist(), array.tolist())

    def test_segments(self):
        q = self.q[:2]
        self.fovea.save(self.path(), q, q, q, segments=[0, 0, 1, 1, 1])
        content = self.fovea.read(self.path())
        self.assertEqual(content.types["layer0.segments"], "I32")
        with self.assertRaisesRegex(self.fovea.FoveaError, "segments has the shape"):
            self.fovea.save(self.path(), q, q, q, segments=[0, 0, 1])
        with self.assertRaisesRegex(self.fovea.FoveaError, "segments has the shape"):
            self.fovea.save(self.path(), q, q, q, segments=[0, 0, 1], bias=self.np.ones((5, 5)))

    def test_segments_of_more_keys_than_queries(self):
        content = self.save(segments=[0, 0, 0, 1, 1, 1, 1])
        self.assertEqual(content.arrays["layer0.segments"].tolist(), [0, 0, 0, 1, 1, 1, 1])
        with self.assertRaisesRegex(self.fovea.FoveaError, r"segments has the shape \[5\]; expected \[7\]"):
            self.save(segments=[0, 0, 1, 1, 1])
        with self.assertRaisesRegex(self.fovea.FoveaError, r"at least as many keys \(4\) as queries \(5\)"):
            self.fovea.save(self.path(), self.q, self.k[:, :4], self.v[:, :4], segments=[0, 0, 1, 1])
        from fovea.conditions import Conditions, seen_pairs

        seen = seen_pairs(Conditions(segments=self.np.array([0, 0, 0, 1])), 2, 4)
        self.assertEqual(seen.tolist(), [[True, True, True, False], [False, False, False, True]])

    def test_a_causal_mask_is_recorded_as_such(self):
        mask = self.np.tril(self.np.ones((5, 7), bool), 2)
        content = self.save(mask=mask)
        self.assertEqual(content.metadata, {"causal": "true", "layout": "[H,n,d]"})

    def test_one_head_and_a_batch_of_one(self):
        self.fovea.save(self.path(), self.q[0], self.k[0], self.v[0])
        self.assertEqual(self.fovea.read(self.path()).arrays["layer0.q"].shape, (1, 5, 3))
        self.fovea.save(self.path(), self.q[None], self.k[None], self.v[None])
        self.assertEqual(self.fovea.read(self.path()).arrays["layer0.q"].shape, (4, 5, 3))

    def test_values_may_be_unknown(self):
        self.fovea.save(self.path(), self.q, self.k, None, causal=True)
        content = self.fovea.read(self.path())
        self.assertEqual(sorted(content.arrays), ["layer0.k", "layer0.q"])
        with self.assertRaisesRegex(self.fovea.FoveaError, "z without v"):
            self.fovea.save(self.path(), self.q, self.k, None, z=self.q)
        with self.assertRaisesRegex(self.fovea.FoveaError, r"q \[4, 5, 3\], k \[2, 7, 2\] do not fit"):
            self.fovea.save(self.path(), self.q, self.k[..., :2], None)

    def test_kept_pairs(self):
        np = self.np
        pairs = np.arange(35).reshape(5, 7) % 3 == 0
        content = self.save(kept=pairs)
        self.assertEqual(content.types["layer0.kept"], "BOOL")
        self.assertEqual(content.arrays["layer0.kept"].tolist(), pairs.tolist())
        content = self.save(kept=np.ones((4, 3, 2), "i8"), block_size=(2, 4))
        self.assertEqual(content.arrays["layer0.block_size"].tolist(), [2, 4])
        content = self.save(indices=np.zeros((5, 3), "i8") - 1)
        self.assertEqual(content.types["layer0.indices"], "I64")
        content = self.save(block_indices=np.zeros((5, 2, 1), "i4"), block_size=4)  # queries before heads
        self.assertEqual(content.arrays["layer0.block_indices"].shape, (5, 2, 1))

    def test_a_block_mask_of_flex_attention(self):
        np = self.np

        class BlockMask:
            BLOCK_SIZE = (2, 4)
            kv_num_blocks = np.ones((1, 1, 3), "i4")
            kv_indices = np.zeros((1, 1, 3, 2), "i4")
            full_kv_num_blocks = full_kv_indices = None

        content = self.save(kept=BlockMask())
        self.assertEqual({name: array.shape for name, array in content.arrays.items() if name[-1] not in "qkv"},
                         {"layer0.kv_num_blocks": (1, 1, 3), "layer0.kv_indices": (1, 1, 3, 2),
                          "layer0.block_size": (2,)})

    def test_kept_pairs_that_the_program_would_refuse(self):
        np = self.np
        for more, words in (
                (dict(kept=np.ones((5, 7)), indices=np.zeros((5, 1), int)), "kept and indices both say"),
                (dict(block_size=2), "block_size without kept"),
                (dict(kept=np.ones((4, 7))), r"kept has the shape \[4, 7\]; expected \[5, 7\] or as many blocks"),
                (dict(kept=np.ones((3, 5, 7))), "for each of 4 heads"),
                (dict(kept=np.ones((2, 2)), block_size=2), r"or \[3, 4\]"),
                (dict(kept=np.ones((5, 7)), block_size=0), "block_size is 0"),
                (dict(indices=np.zeros((5, 1), int), block_size=2), "block_size beside indices"),
                (dict(kept=np.ones((5, 7)), block_size=(1, 2, 3)), r"block_size is \(1, 2, 3\)"),
                (dict(indices=np.zeros((5, 1))), "indices has the type float64; expected integers"),
                (dict(indices=np.zeros((4, 1), int)), r"expected \[5, keys of a query\]"),
                (dict(block_indices=np.zeros((5, 1), int)), "without block_size"),
                (dict(block_indices=np.zeros((4, 1), int), block_size=2), "blocks of a row")):
            with self.assertRaisesRegex(self.fovea.FoveaError, words):
                self.save(**more)

    def test_what_does_not_fit_is_refused_and_nothing_replaced(self):
        self.path().write_bytes(b"before")
        for wrong, words in ((dict(tokens=["a"]), "1 tokens for 5 places"), (dict(z=self.q), "z has the shape"),
                             (dict(sinks=[1.0]), "sinks has the shape"),
                             (dict(mask=self.np.ones((3, 3), bool)), "mask has the shape")):
            with self.assertRaisesRegex(self.fovea.FoveaError, words):
                self.save(**wrong)
        with self.assertRaisesRegex(self.fovea.FoveaError, "evenly"):
            self.fovea.save(self.path(), self.q[:3], self.k, self.v)
        with self.assertRaisesRegex(self.fovea.FoveaError, "do not fit"):
            self.fovea.save(self.path(), self.q, self.k, self.v[:, :3])
        with self.assertRaisesRegex(self.fovea.FoveaError, r"q has the shape \[2, 4, 5, 3\]"):
            self.fovea.save(self.path(), self.np.stack([self.q, self.q]), self.k, self.v)
        self.assertEqual(self.path().read_bytes(), b"before")
        self.assertEqual(self.files(), ["run.safetensors"])

    def test_integers_in_a_mask_say_who_may_attend(self):
        """As a tokenizer's attention_mask, of padding."""
        for kind in ("i8", "i4", "u1", "bool"):
            content = self.save(mask=self.np.array([1, 1, 1, 1, 1, 0, 0], kind))
            self.assertEqual(content.types["layer0.mask"], "BOOL", kind)
            self.assertEqual(content.arrays["layer0.mask"].tolist(), [True] * 5 + [False] * 2, kind)
            self.assertNotIn("layer0.bias", content.arrays)
        pairs = self.np.tril(self.np.ones((5, 7), "i8"), 2)
        self.assertEqual(self.save(mask=pairs).metadata, {"causal": "true", "layout": "[H,n,d]"})
        self.assertEqual(self.save(mask=[1] * 7).metadata, {"causal": "false", "layout": "[H,n,d]"})
        with self.assertRaisesRegex(self.fovea.FoveaError, "integers other than 0 and 1, -1 to 1; expected 1 or true"):
            self.save(mask=self.np.array([1, 1, 1, 1, 1, 0, -1]))

    def test_a_floating_mask_of_0_and_1_is_refused(self):
        ones = self.np.array([1, 1, 1, 1, 1, 0, 0], "f4")
        with self.assertRaisesRegex(self.fovea.FoveaError, "only 0 and 1 in a floating type.*convert it to bool"):
            self.save(mask=ones)
        self.assertEqual(self.save(bias=ones).arrays["layer0.bias"].tolist(), ones.tolist())
        self.assertNotIn("layer0.mask", self.save(mask=0 * ones).arrays)
        lowest = self.np.where(ones > 0, 0, self.np.finfo("f4").min)
        self.assertEqual(self.save(mask=lowest).arrays["layer0.mask"].tolist(), (ones > 0).tolist())

    def test_what_the_program_would_refuse_is_refused(self):
        np, q = self.np, self.q
        whole = dict(q=q, k=self.k, v=self.v)
        for more, words in (
                (dict(scale=0.0), "scale is 0; expected a number above 0"), (dict(scale=-1), "scale is -1"),
                (dict(scale=float("nan")), "scale is nan"), (dict(scale="a"), "scale is 'a'"),
                (dict(softcap=-1), "softcap is -1"), (dict(softcap=float("inf")), "softcap is inf"),
                (dict(window=0), "window is 0; expected a whole number of keys"), (dict(window=2.5), "window is 2.5"),
                (dict(window=1 << 31), "window is 2147483648"), (dict(sinks=[1, 2, 3, np.inf]), "sinks holds"),
                (dict(alibi=[1, 2, 3, np.nan]), "alibi holds"), (dict(alibi=["a"] * 4), "alibi holds"),
                (dict(segments=[0, 0, 0, 0, 0, 0, -1]), "segments holds"), (dict(segments=[0.5] * 7), "segments holds"),
                (dict(segments=[1 << 25] * 7), "segments holds"), (dict(bias=np.ones(7, int)), "bias has the type I64"),
                (dict(q=np.ones((4, 5, 3), "i8")), "q has the type I64; expected F64"),
                (dict(k=self.k > 0), "k has the type BOOL"), (dict(v=self.v.astype("i1")), "v has the type I8"),
                (dict(z=np.ones((4, 5, 6), "i4")), "z has the type I32"), (dict(q=q[:, :0]), "at least one head"),
                (dict(q=q + 0j), "a tensor has the type complex64"), (dict(q=[[1.0], [1.0, 2.0]]), "q cannot be read"),
                (dict(q=None), "type object"), (dict(q=3.0), r"q has the shape \[\]"),
                (dict(mask=[[1], [1, 0]]), "mask cannot be read"), (dict(mask=["yes"] * 7), "the type str")):
            arguments = {**whole, **more}
            with self.subTest(words), self.assertRaisesRegex(self.fovea.FoveaError, words):
                self.fovea.save(self.path(), arguments.pop("q"), arguments.pop("k"), arguments.pop("v"), **arguments)
        self.assertEqual(self.files(), [])

    def test_lists_are_arrays(self):
        self.fovea.save(self.path(), self.q.tolist(), self.k.tolist(), self.v.tolist(), z=self.v[:1].repeat(4, 0)[
            :, :5].tolist(), bias=[0.5] * 7, sinks=[1, 2, 3, 4], window=self.np.int64(3), scale=self.np.float32(0.5))
        content = self.fovea.read(self.path())
        self.assertTrue((content.arrays["layer0.q"] == self.q).all())
        self.assertEqual((content.metadata["scale"], content.metadata["window"]), ("0.5", "3"))

    def test_tokens_of_an_encoding(self):
        from test_encoding import Batch, One

        q = self.q[:, :2]
        for given in (One(), [One()], {"tokens": ["a", "b"], "input_ids": [1, 2]}, self.np.array(["a", "b"])):
            self.fovea.save(self.path(), q, q, q, tokens=given)
            self.assertEqual(json.loads(self.fovea.read(self.path()).metadata["tokens"]), ["a", "b"])
        for given, words in ((Batch(), "tokens is a batch of 2"), ({"input_ids": [1, 2]}, "pass the tokenizer too"),
                             ("ab", "tokens is one string"), (3, "tokens is of the type int")):
            with self.assertRaisesRegex(self.fovea.FoveaError, words):
                self.fovea.save(self.path(), q, q, q, tokens=given)

    @needs("torch")
    def test_tensors_without_content_are_refused(self):
        import torch
        import torch.nn.attention.bias

        q = torch.randn(2, 5, 3)
        for wrong, words in ((q.to_sparse(), "of the layout torch.sparse_coo; pass"),
                             (q.to("meta"), "on the device 'meta'"),
                             (torch.nested.nested_tensor([q[0], q[1, :3]], layout=torch.jagged),
                              "of the layout torch.jagged"),
                             (torch.nested.nested_tensor([q[0], q[1, :3]]), "of the layout"),
                             (q.to(torch.complex64), "the type complex64")):
            with self.subTest(words), self.assertRaisesRegex(self.fovea.FoveaError, words):
                self.fovea.save(self.path(), wrong, wrong, wrong)
            with self.subTest(words), self.assertRaises(self.fovea.FoveaError):
                self.fovea.save(self.path(), q, q, q, mask=wrong)
        with self.assertRaisesRegex(self.fovea.FoveaError, "mask is a CausalBias, which holds no numbers"):
            self.fovea.save(self.path(), q, q, q, mask=torch.nn.attention.bias.causal_lower_right(5, 5))
        self.assertEqual(self.files(), [])

    @needs("torch")
    def test_views_of_tensors_are_read(self):
        import torch

        numbers = torch.randn(2, 5, 3, dtype=torch.complex64)
        negated = numbers.conj().imag
        self.assertTrue(negated.is_neg())
        self.fovea.save(self.path(), negated, numbers.real, torch.nn.Parameter(numbers.imag.clone()),
                        bias=negated[0, 0, :1].expand(5), mask=torch.tensor([1, 1, 1, 1, 0]))
        content = self.fovea.read(self.path())
        self.assertTrue((content.arrays["layer0.q"] == -numbers.imag.numpy()).all())
        self.assertTrue((content.arrays["layer0.k"] == numbers.real.numpy()).all())
        self.assertEqual(content.arrays["layer0.mask"].tolist(), [True] * 4 + [False])

    @needs("torch")
    def test_bfloat16_is_kept(self):
        import torch

        q = torch.randn(2, 5, 3, requires_grad=True).to(torch.bfloat16)
        self.fovea.save(self.path(), q, q, q, mask=torch.zeros(5, 5), bias=torch.randn(5, 5))
        content = self.fovea.read(self.path())
        self.assertEqual(content.types["layer0.q"], "BF16")
        self.assertTrue((content.arrays["layer0.q"] == q.detach().float().numpy()).all())
        self.assertEqual(content.arrays["layer0.bias"].shape, (5, 5))

    def test_gradients_are_written(self):
        q, kv = self.np.ones((4, 6, 3), "f4"), self.np.ones((2, 6, 3), "f4")
        self.fovea.save(self.path(), q, kv, kv, gradients={"dz": 2 * q, "dq": q, "dk": kv, "dv": q})
        content = self.fovea.read(self.path())
        self.assertTrue((content.arrays["layer0.dz"] == 2).all())
        self.assertEqual({name: array.shape for name, array in content.arrays.items() if name.startswith("layer0.d")},
                         {"layer0.dz": (4, 6, 3), "layer0.dq": (4, 6, 3), "layer0.dk": (2, 6, 3),
                          "layer0.dv": (4, 6, 3)})

    def test_runs_of_one_input_are_written_and_refused_where_they_do_not_fit(self):
        q, k, v = self.np.ones((4, 6, 3), "f4"), self.np.ones((2, 7, 3), "f4"), self.np.ones((2, 7, 5), "f4")
        z = self.np.zeros((4, 6, 5), "f4")
        for runs in ([z, z + 1], self.np.stack([z, z + 1]), [z[None], z[None] + 1]):
            self.fovea.save(self.path(), q, k, v, z_runs=runs)
            written = self.fovea.read(self.path()).arrays["layer0.z_runs"]
            self.assertEqual(written.shape, (2, 4, 6, 5))
            self.assertTrue((written[1] == 1).all() and (written[0] == 0).all())
        with self.assertRaises(self.fovea.FoveaError) as error:
            self.fovea.save(self.path(), q, k, v, z_runs=[z, z[:3]])
        self.assertIn("z_runs has the shape [3, 6, 5]; expected [4, 6, 5]", str(error.exception))
        for runs, said in (([z] * 1025, "z_runs has 1025 runs; expected at most 1024"), (3, "z_runs is a int"),
                           ([z, z.astype("f8")], "several types")):
            with self.assertRaisesRegex(self.fovea.FoveaError, said):
                self.fovea.save(self.path(), q, k, v, z_runs=runs)
        with self.assertRaisesRegex(self.fovea.FoveaError, "z_runs without v"):
            self.fovea.save(self.path(), q, k, None, z_runs=[z])

    def test_gradients_of_one_head_and_of_a_batch_of_one(self):
        q, v = self.np.ones((6, 3), "f4"), self.np.ones((6, 5), "f4")
        for gradients in ({"dz": v, "dk": q}, {"dz": v[None, None], "dk": q[None], "dq": None}):
            self.fovea.save(self.path(), q, q, v, gradients=gradients)
            arrays = self.fovea.read(self.path()).arrays
            self.assertEqual((arrays["layer0.dz"].shape, arrays["layer0.dk"].shape), ((1, 6, 5), (1, 6, 3)))
            self.assertNotIn("layer0.dq", arrays)

    def test_gradients_that_do_not_fit_are_refused(self):
        q, k, v = self.np.ones((4, 6, 3), "f4"), self.np.ones((2, 7, 3), "f4"), self.np.ones((2, 7, 5), "f4")
        z = self.np.ones((4, 6, 5), "f4")
        for given, expected in (
                ({"dq": q}, "gradients has dq; expected dz and at least one of dq, dk and dv"),
                ({"dz": z}, "gradients has dz; expected dz and at least one of"),
                ({"dz": None, "dq": q}, "gradients has dq; expected dz and at least one of"),
                ({"dq": None}, "gradients has no array; expected dz"), ({}, "gradients has no array; expected dz"),
                ({"dz": z, "do": z, 1: z}, "gradients has 'do', 1; expected dz, dq, dk, dv"),
                (z, "gradients is of the type ndarray; expected a dict of dz, dq, dk, dv"),
                ([z, q], "gradients is of the type list; expected a dict"),
                ({"dz": z, "dq": z}, "dq has the shape [4, 6, 5]; expected [4, 6, 3]"),
                ({"dz": q, "dq": q}, "dz has the shape [4, 6, 3]; expected [4, 6, 5]"),
                ({"dz": z, "dk": k[:1]}, "dk has the shape [1, 7, 3]; expected [2, 7, 3] or [4, 7, 3]"),
                ({"dz": z, "dv": k}, "dv has the shape [2, 7, 3]; expected [2, 7, 5] or [4, 7, 5]"),
                ({"dz": z, "dq": q > 0}, "dq has the type BOOL")):
            with self.subTest(expected), self.assertRaisesRegex(self.fovea.FoveaError, re.escape(expected)):
                self.fovea.save(self.path(), q, k, v, gradients=given)
        with self.assertRaisesRegex(self.fovea.FoveaError, "gradients without v"):
            self.fovea.save(self.path(), q, k, None, gradients={"dz": q, "dq": q})
        self.assertEqual(self.files(), [])

    @needs("torch")
    def test_gradients_of_a_backward_pass_of_pytorch(self):
        import torch

        q, k, v = (torch.randn(1, 2, 5, 3, requires_grad=True) for _ in range(3))
        z = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        z.retain_grad()
        z.square().sum().backward()
        self.fovea.save(self.path(), q, k, v, z=z, gradients={"dz": z.grad, "dq": q.grad, "dk": k.grad, "dv": v.grad})
        arrays = self.fovea.read(self.path()).arrays
        self.assertTrue((arrays["layer0.dz"] == 2 * arrays["layer0.z"]).all())
        self.assertTrue((arrays["layer0.dq"] == q.grad[0].numpy()).all())


if __name__ == "__main__":
    unittest.main()
