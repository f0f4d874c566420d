"""What a call is, with NumPy alone: scales, members of batches, steps, labels, and the comparison with the output."""
import itertools
import json
import unittest
from unittest import mock

from package import needs


@needs("numpy")
class Seen(unittest.TestCase):
    def setUp(self):
        import numpy

        from fovea.call import shared_metadata
        from fovea.check import difference
        from fovea.conditions import Conditions
        from fovea.seen import Seen

        self.np, self.kind, self.conditions = numpy, Seen, Conditions
        self.difference, self.shared = difference, shared_metadata
        self.random = numpy.random.default_rng(0)

    def normal(self, *shape):
        return self.random.normal(size=shape).astype("f4")

    def seen(self, q, k, v, z=None, **conditions):
        given = {key: conditions.pop(key) for key in ("mask", "bias", "ends_causal", "dropout") if key in conditions}
        return self.kind(None, q, k, v, z, self.conditions(**conditions), **given)

    def output(self, q, k, v, scale, bias=0.0):
        logits = scale * q.astype("f8") @ k.astype("f8").swapaxes(-1, -2) + bias
        weights = self.np.exp(logits - logits.max(-1, keepdims=True))
        return (weights / weights.sum(-1, keepdims=True) @ v).astype("f4")

    def test_the_scale_is_that_of_the_keys(self):
        """As in latent attention, where values have another width."""
        for width, values in ((8, 3), (3, 8)):
            q, k, v = self.normal(1, 2, 5, width), self.normal(1, 2, 5, width), self.normal(1, 2, 5, values)
            z = self.output(q, k, v, width**-0.5)
            (call,) = self.seen(q, k, v, z, causal=False).calls(5, True)
            self.assertAlmostEqual(call.conditions.scale, width**-0.5)
            self.assertIsNone(self.difference(call))

    def test_members_share_what_has_fewer_axes(self):
        q, k, v = self.normal(2, 4, 3, 8), self.normal(2, 2, 5, 8), self.normal(2, 2, 5, 6)
        mask = self.np.ones((2, 1, 3, 5), bool)
        mask[1, :, :, 4] = False
        bias = self.normal(3, 5)
        calls = list(self.seen(q, k, v, mask=mask, bias=bias).calls(3, False))
        self.assertIsNone(calls[0].conditions.mask)
        self.assertEqual(calls[1].conditions.mask.tolist(), [True] * 4 + [False])
        for b, call in enumerate(calls):
            self.assertTrue((call.q == q[b]).all() and (call.k == k[b]).all() and (call.v == v[b]).all())
            self.assertTrue((call.conditions.bias == bias)[:, :4].all())
            self.assertIsNone(call.z)

    def test_places_of_a_cache_that_are_not_filled(self):
        q, k = self.normal(1, 2, 2, 8), self.normal(1, 2, 9, 8)
        mask = self.np.zeros((1, 1, 2, 9), bool)
        mask[..., :4] = True
        (call,) = self.seen(q, k, k, mask=mask, ends_causal=True).calls(5, False)
        self.assertEqual((call.keys, call.conditions.mask.tolist()), (5, [True] * 4 + [False]))

    def test_what_only_some_calls_say_is_said_of_these(self):
        said = self.shared({"a": {"scale": "1.0", "causal": "true"}, "b": {"causal": "true"},
                            "c": {"scale": "1.0", "causal": "true", "window": "3"}})
        self.assertEqual(said, {"layout": "[H,n,d]", "causal": "true", "a.scale": "1.0", "c.scale": "1.0",
                                "c.window": "3"})

    def test_a_large_bias_hides_no_error(self):
        """The bound grows with biases of pairs that have weight, not with those of pairs that have none."""
        np = self.np
        q, k, v = self.normal(1, 2, 9, 16), self.normal(1, 2, 9, 16), self.normal(1, 2, 9, 4)
        seen = self.random.random((9, 9)) > 0.3
        np.fill_diagonal(seen, True)
        seen[np.arange(9), np.arange(9) - 1] = False  # in every row
        bias = np.where(seen, self.normal(9, 9), -1e9).astype("f4")
        z = self.output(q, k, v, 0.25, bias)
        (call,) = self.seen(q, k, v, z, scale=0.25, causal=False, bias=bias).calls(9, True)
        for head in (0, 1):
            self.assertIsNone(self.difference(call, head))
        call.z = z[0].copy()
        call.z[1] += 1e-3
        self.assertIsNone(self.difference(call, 0))
        self.assertRegex(self.difference(call, 1), "differs from the model's own by 0.001")

    def test_every_combination_of_conditions_is_computed(self):
        """By the words beside the fields of Conditions, in float64, key by key."""
        from fovea.call import Call

        np = self.np
        for nq, nk in ((4, 4), (3, 7)):
            q, k, v = self.normal(2, nq, 4), self.normal(2, nk, 4), self.normal(2, nk, 3)
            mask, segments = self.random.random((2, nq, nk)) > 0.2, np.arange(nk, dtype="i4") // 5
            for i in range(nq):
                mask[:, i, i + nk - nq] = True  # no row is empty
            values = {"scale": 0.7, "causal": True, "window": 3, "softcap": 1.5, "mask": mask,
                      "bias": self.normal(nq, nk), "alibi": np.array([-0.5, 0.25], "f4"),
                      "sinks": np.array([0.5, 2.0], "f4"), "segments": segments}
            for chosen in itertools.product((False, True), repeat=len(values)):
                said = {name: value for (name, value), there in zip(values.items(), chosen) if there}
                z = np.zeros((2, nq, 3), "f4")
                for h, i in itertools.product(range(2), range(nq)):
                    place, weights = i + nk - nq, np.zeros(nk)
                    for j in range(nk):
                        logit = said.get("scale", 0.5) * float(q[h, i].astype("f8") @ k[h, j])
                        if "softcap" in said:
                            logit = 1.5 * np.tanh(logit / 1.5)
                        logit += said["bias"][i, j] if "bias" in said else 0
                        logit += said["alibi"][h] * (j - place) if "alibi" in said else 0
                        hidden = ("causal" in said and j > place or "window" in said and j <= place - 3 or
                                  "mask" in said and not mask[h, i, j] or
                                  "segments" in said and segments[j] != segments[place])
                        weights[j] = 0 if hidden else np.exp(logit)
                    total = weights.sum() + (np.exp(float(said["sinks"][h])) if "sinks" in said else 0)
                    z[h, i] = weights / total @ v[h]
                call = Call(q, k, v, z, self.conditions(**said))
                for head in (0, 1):
                    self.assertIsNone(self.difference(call, head), (nq, nk, head, list(said)))

    def test_rows_without_a_number_are_wrong(self):
        q, k, v = self.normal(1, 1, 4, 8), self.normal(1, 1, 4, 8), self.normal(1, 1, 4, 8)
        z = self.output(q, k, v, 8**-0.5)
        z[0, 0, 2] = self.np.nan
        (call,) = self.seen(q, k, v, z, causal=False).calls(4, True)
        self.assertRegex(self.difference(call), "differs from the model's own by nan")

    def test_numbers_that_no_file_can_hold(self):
        from fovea import FoveaError

        q = self.normal(1, 1, 4, 8)
        for name, value in (("scale", 0.0), ("scale", -1.0), ("scale", float("inf")), ("window", 0), ("softcap", -1.0)):
            (call,) = self.seen(q, q, q, **{"causal": False, name: value}).calls(4, False)
            with self.assertRaisesRegex(FoveaError, f"{name} is .*; expected a number above 0"):
                call.check()


@needs("numpy")
class Heads(unittest.TestCase):
    def test_each_chosen_head_keeps_its_keys_and_values(self):
        """The program takes key head h // (H / Hkv) for query head h, in whatever order heads were chosen."""
        import numpy

        from fovea.call import Call

        heads, key_heads = 6, 3
        names = numpy.arange(heads, dtype="f4")[:, None, None]  # the numbers of heads are their numbers
        call = Call(names, names[:key_heads], names[:key_heads], names)
        for count in (1, 2, 3, 4):
            for chosen in itertools.permutations(range(heads), count):
                some = call.of_heads(list(chosen))
                some.check()
                group = count // len(some.k)
                for place, head in enumerate(chosen):
                    for array, expected in ((some.q[place], head), (some.z[place], head),
                                            (some.k[place // group], head // 2), (some.v[place // group], head // 2)):
                        self.assertEqual(array, expected, chosen)


@needs("numpy")
class Biases(unittest.TestCase):
    def test_every_call_has_its_own_bias_in_the_file(self):
        """Whichever calls have the same one, another one, or none."""
        import numpy

        from fovea.shared_bias import SharedBias

        some, other = numpy.zeros((2, 2), "f4"), numpy.ones((2, 2), "f4")
        for biases in itertools.product((None, some, other, some.astype("f2")), repeat=3):
            written = {}
            file = mock.Mock(add=written.update)
            shared = SharedBias(file)
            for call, bias in enumerate(biases):
                shared.add(f"layer{call}", bias)
            shared.finish()
            for call, bias in enumerate(biases):
                found = written.get(f"layer{call}.bias", written.get("bias"))
                self.assertIs(found is None, bias is None)
                if bias is not None:
                    self.assertEqual(found.dtype, bias.dtype)
                    self.assertTrue((found == bias).all())


class StepsAndLabels(unittest.TestCase):
    def setUp(self):
        from fovea.labels import Labelled, TokenLabels
        from fovea.steps import Run, Steps

        self.steps, self.run_of, self.labelled, self.labels = Steps(), Run, Labelled, TokenLabels

    def calls(self, *calls, name="layer0", role="", batch=0):
        """Of (run, queries, keys)."""
        runs = [run and self.run_of(0, run, 0) for run, _, _ in calls]
        turns = [self.steps.next(name, run, nq, nk, role == "cross") for run, (_, nq, nk) in zip(runs, calls)]
        return [self.labelled(name, role, turn, batch) for turn in turns]

    def names(self, calls):
        return [call.turn.name(call.name, call.batch, 1) for call in calls]

    def test_steps_are_calls_of_the_model(self):
        calls = self.calls((1, 4, 4), (1, 4, 4), (2, 1, 5), (2, 1, 5), (None, 1, 6), (None, 1, 7))
        self.assertEqual(self.names(calls), ["layer0", "layer0.call1", "layer0.step1", "layer0.step1.call1",
                                             "layer0.step2", "layer0.step3"])
        self.assertEqual([call.turn.total for call in calls], [4, 4, 5, 5, 6, 7])

    def test_another_window_in_the_same_step_has_seen_all_its_keys(self):
        """Else those beyond the first window's queries were taken for places of a cache that are not filled yet."""
        calls = self.calls((1, 4, 4), (1, 3, 9), (1, 4, 4))
        self.assertEqual([(call.turn.step, call.turn.call, call.turn.total) for call in calls],
                         [(0, 0, 4), (0, 1, 9), (0, 2, 4)])

    def test_steps_are_the_same_in_all_layers(self):
        """Though one was left out of a call, and others run in several threads."""
        a, b, c = (self.run_of(0, n, n) for n in range(3))
        for name, runs, steps in (("layer0", (a, b, c), [0, 1, 2]), ("layer1", (b, a, c), [1, 0, 2]),
                                  ("layer2", (c, a), [2, 0])):
            self.assertEqual([self.steps.next(name, run, 4, 4).step for run in runs], steps)
        other = self.run_of(1, 3, 0)  # of another model with the same attention
        self.assertEqual([self.steps.next(name, other, 4, 4).step for name in ("layer0", "layer2")], [3, 3])

    def test_calls_in_several_threads_are_those_of_their_run(self):
        a, b = (self.run_of(0, n, n) for n in range(2))
        turns = [self.steps.next("layer0", run, 4, 4) for run in (a, b, a, b)]
        self.assertEqual([(turn.step, turn.call) for turn in turns], [(0, 0), (1, 0), (0, 1), (1, 1)])

    def test_a_loop_inside_the_model_has_steps(self):
        self.assertEqual(self.names(self.calls((1, 4, 4), (1, 1, 5), (1, 1, 6))),
                         ["layer0", "layer0.step1", "layer0.step2"])

    def test_a_model_that_begins_anew(self):
        self.assertEqual([call.turn.total for call in self.calls((1, 4, 4), (2, 4, 4), (3, 1, 5))], [4, 4, 5])

    def test_labels_of_later_steps(self):
        tokens = list("abcdef")
        calls = self.calls((1, 3, 3), (2, 1, 4), (3, 1, 5), (4, 1, 3))  # the last sees a window
        labels = self.labels([tokens], None, calls)
        self.assertEqual([labels.of(call) for call in calls], [
            (["a", "b", "c"], None), (["d"], ["a", "b", "c", "d"]), (["e"], ["a", "b", "c", "d", "e"]),
            (["f"], ["d", "e", "f"])])
        self.assertEqual(labels.complaint, "")

    def test_members_of_a_batch(self):
        (first,), (second,) = (self.calls((1, 2, 2), name=f"layer{b}", batch=b) for b in (0, 1))
        labels = self.labels([["a", "b"], ["c", "d"]], None, [first, second])
        self.assertEqual((labels.of(first)[0], labels.of(second)[0]), (["a", "b"], ["c", "d"]))

    def test_every_member_of_a_batch_has_its_own_tokens_in_every_role(self):
        source, target = [list("abcd"), list("efgh")], [list("ijk"), list("lmn")]
        made = {}
        for role, (nq, nk) in (("encoder", (4, 4)), ("decoder", (3, 3)), ("cross", (3, 4))):
            for batch in (0, 1):
                (made[role, batch],) = self.calls((1, nq, nk), name=f"{role}{batch}", role=role, batch=batch)
        labels = self.labels(target, source, list(made.values()))
        for batch in (0, 1):
            self.assertEqual([labels.of(made[role, batch]) for role in ("encoder", "decoder", "cross")], [
                (source[batch], None), (target[batch], None), (target[batch], source[batch])])

    def test_windows_have_no_labels_of_the_whole(self):
        calls = self.calls((1, 4, 4), (1, 2, 2))
        labels = self.labels([list("abcd")], None, calls)
        self.assertEqual([labels.of(call) for call in calls], [(list("abcd"), None), (None, None)])

    def test_what_a_tokenizer_returned(self):
        from fovea import FoveaError
        from fovea.encoding import token_lists

        class Encoding(dict):
            encodings = [1, 2]

            def tokens(self, batch):
                return [["a", "b"], ["c"]][batch]

        self.assertEqual(token_lists(Encoding(input_ids=[[1, 2], [3]]), "tokens"), [["a", "b"], ["c"]])
        with self.assertRaisesRegex(FoveaError, "pass the tokenizer too"):
            token_lists({"input_ids": [1, 2], "attention_mask": [1, 1]}, "tokens")
        with self.assertRaisesRegex(FoveaError, "tokens is one string"):
            token_lists("a b", "tokens")

    def test_json(self):
        from fovea.call import names_metadata

        self.assertEqual(json.loads(names_metadata(["ğ"], None)["tokens"]), ["ğ"])


class Names(unittest.TestCase):
    def test_layers_of_paths(self):
        from fovea.names import layer_of

        for path, layer in (("0.model.encoder.layer.3.attention.self", 3), ("blocks.3.attn", 3), ("0.self_attn", 0),
                            ("layers.0.blocks.1.attn", 0), ("3", 3), ("attn", None), ("0.1.blocks.12", 12)):
            self.assertEqual(layer_of(path), layer, path)

    def test_models_have_no_folders(self):
        import tempfile
        import types

        from fovea.names import model_name

        with tempfile.TemporaryDirectory() as folder:
            for path, name in (("org/name", "org/name"), ("name", "name"), (folder, folder.split("/")[-1]),
                               ("/home/me/models/name/", "name"), ("./name", "name"), ("a/b/name", "name"),
                               ("C:\\models\\name", "name"), ("", "SimpleNamespace"),
                               ("/home/me/hub/models--org--name/snapshots/0123", "org/name")):
                model = types.SimpleNamespace(config=types.SimpleNamespace(_name_or_path=path))
                self.assertEqual(model_name(model), name)
        with mock.patch("os.path.exists", return_value=True):  # a folder of this machine
            model = types.SimpleNamespace(config=types.SimpleNamespace(_name_or_path="models/name"))
            self.assertEqual(model_name(model), "name")


if __name__ == "__main__":
    unittest.main()
