"""Measures of what a replacement does to a model, against the formulas in float64."""
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from package import PROGRAM, needs


@needs("numpy", "torch")
class Measures(unittest.TestCase):
    def setUp(self):
        import numpy
        import torch

        self.numpy, self.torch = numpy, torch
        self.random = numpy.random.default_rng(0)

    def outputs(self, logits, hidden=()):
        from fovea.outputs import Outputs

        torch = self.torch
        return Outputs(None if logits is None else torch.tensor(logits), [torch.tensor(h) for h in hidden], 1.0)

    def compare(self, exact, replaced, ids):
        from fovea.outputs import Reference

        return Reference(exact, ids).compare(replaced)

    def drift_of(self, replaced, exact):
        from fovea.outputs import drift_of

        return drift_of(replaced, exact, exact.double().square().sum(1))

    def log_softmax(self, x):
        x = x.astype("float64")
        most = x.max(-1, keepdims=True)
        return x - most - self.numpy.log(self.numpy.exp(x - most).sum(-1, keepdims=True))

    def test_losses_and_divergences_are_the_formulas(self):
        n, words = 150, 31  # more rows than are looked at together
        exact, replaced = (self.random.normal(0, 3, (n, words)).astype("float32") for _ in range(2))
        ids = self.random.integers(0, words, n).tolist()
        found = self.compare(self.outputs(exact), self.outputs(replaced), ids)
        p, q = self.log_softmax(exact), self.log_softmax(replaced)
        loss = [-q[i, ids[i + 1]] for i in range(n - 1)]
        kl = (self.numpy.exp(p) * (p - q)).sum(-1)
        near = dict(rtol=1e-12)  # the logits are the same float32; sums of 31 numbers in float64
        self.numpy.testing.assert_allclose(found["loss"], loss, **near)
        self.numpy.testing.assert_allclose(found["exact_loss"], [-p[i, ids[i + 1]] for i in range(n - 1)], **near)
        self.numpy.testing.assert_allclose(found["kl"], kl, **near)
        self.assertAlmostEqual(found["perplexity"], math.exp(self.numpy.mean(loss)), 9)
        self.assertAlmostEqual(found["kl_mean"], kl.mean(), 12)
        self.assertEqual(found["kl_max_at"], int(kl.argmax()))
        self.assertEqual(found["top1_agreement"], (p.argmax(-1) == q.argmax(-1)).mean())
        token, chance = found["likeliest"][149][0]
        self.assertEqual(token, int(q[149].argmax()))
        self.assertAlmostEqual(chance, math.exp(q[149].max()), 12)
        self.assertEqual(len(found["exact_likeliest"][0]), 5)

    def test_rows_that_did_not_change_and_tokens_that_cannot_follow_are_as_the_formulas_say(self):
        n, words = 40, 9
        exact = self.random.normal(0, 3, (n, words)).astype("float32")
        replaced = exact.copy()
        replaced[[3, 35]] += 1 + self.random.normal(0, 1, (2, words)).astype("float32")  # others are equal
        exact[:, 7] = replaced[:, 7] = -math.inf
        ids = [int(token) for token in self.random.integers(0, 7, n)]
        found = self.compare(self.outputs(exact), self.outputs(replaced), ids)
        p, q = self.log_softmax(exact), self.log_softmax(replaced)
        finite = [token for token in range(words) if token != 7]
        kl = (self.numpy.exp(p)[:, finite] * (p[:, finite] - q[:, finite])).sum(-1)
        self.numpy.testing.assert_allclose(found["kl"], kl, rtol=1e-12, atol=1e-15)
        self.assertEqual([i for i, one in enumerate(found["kl"]) if one > 1e-12], [3, 35])
        self.numpy.testing.assert_allclose(found["loss"], [-q[i, ids[i + 1]] for i in range(n - 1)], rtol=1e-12)
        self.assertEqual(found["top1"], (p.argmax(-1) == q.argmax(-1)).tolist())
        for i in range(n):
            token, chance = found["likeliest"][i][0]
            self.assertEqual(token, int(q[i].argmax()))
            self.assertAlmostEqual(chance, math.exp(q[i].max()), 12)

    def test_numbers_are_the_same_without_rows_of_tokens(self):
        from fovea.outputs import Reference

        exact, replaced = (self.random.normal(0, 3, (40, 9)).astype("float32") for _ in range(2))
        reference = Reference(self.outputs(exact, [exact]), [3] * 40)
        whole, numbers = (reference.compare(self.outputs(replaced, [replaced]), rows) for rows in (True, False))
        of_tokens = {"exact_loss", "loss", "kl", "top1", "exact_likeliest", "likeliest", "token_drift"}
        for name, value in whole.items():
            self.assertEqual(numbers[name], None if name in of_tokens else value, name)
        self.assertTrue(all(whole[name] for name in of_tokens))

    def test_rows_of_nan_are_hidden_by_no_number(self):
        exact = self.random.normal(0, 3, (40, 9)).astype("float32")
        replaced = exact + 1 + self.random.normal(0, 1, (40, 9)).astype("float32")
        replaced[7, 3] = math.nan
        found = self.compare(self.outputs(exact), self.outputs(replaced), [0] * 40)
        for name in ("perplexity", "loss_per_token", "kl_mean", "kl_max"):
            self.assertTrue(math.isnan(found[name]), name)
        self.assertEqual(found["kl_max_at"], 7)
        self.assertFalse(found["top1"][7])
        self.assertFalse(math.isnan(found["exact_perplexity"]))

    def test_outputs_in_bfloat16_are_compared_as_they_are(self):
        torch = self.torch
        logits, other = (torch.tensor(self.random.normal(0, 3, (20, 9))).bfloat16() for _ in range(2))
        hidden, moved = (torch.tensor(self.random.normal(0, 1, (20, 4))).bfloat16() for _ in range(2))
        from fovea.outputs import Outputs

        found = self.compare(Outputs(logits, [hidden, hidden], 1.0), Outputs(other, [hidden, moved], 1.0), [1] * 20)
        a, b = moved.double().numpy(), hidden.double().numpy()
        self.assertEqual(found["drift"][0]["relative"], 0)
        relative = self.numpy.linalg.norm(a - b) / self.numpy.linalg.norm(b)
        self.assertAlmostEqual(found["drift"][1]["relative"], relative, 12)
        q = self.log_softmax(other.double().numpy())
        self.numpy.testing.assert_allclose(found["loss"], -q[:19, 1], rtol=1e-12)

    def test_equal_outputs_have_no_effect(self):
        logits = self.random.normal(0, 1, (4, 7)).astype("float32")
        hidden = [self.random.normal(0, 1, (4, 3)).astype("float32")] * 2
        found = self.compare(self.outputs(logits, hidden), self.outputs(logits, hidden), [1, 2, 3, 4])
        self.assertEqual(found["perplexity"], found["exact_perplexity"])
        self.assertEqual((found["kl_max"], found["top1_agreement"]), (0, 1))
        for drift in found["drift"]:
            self.assertEqual(drift["relative"], 0)
            self.assertAlmostEqual(drift["least_cosine"], 1, 12)

    def test_drift_is_the_formula(self):
        a, b = (self.random.normal(0, 1, (9, 5)).astype("float32") for _ in range(2))
        found = self.compare(self.outputs(None, [a]), self.outputs(None, [b]), list(range(9)))
        a, b = a.astype("float64"), b.astype("float64")
        cosines = (a * b).sum(1) / self.numpy.linalg.norm(a, axis=1) / self.numpy.linalg.norm(b, axis=1)
        drift = found["drift"][0]
        self.assertAlmostEqual(drift["relative"], self.numpy.linalg.norm(a - b) / self.numpy.linalg.norm(a), 12)
        self.assertAlmostEqual(drift["cosine"], cosines.mean(), 12)
        self.assertAlmostEqual(drift["least_cosine"], cosines.min(), 12)
        mean_a, mean_b = a.mean(0), b.mean(0)
        self.assertAlmostEqual(found["pooled_cosine"],
                               mean_a @ mean_b / self.numpy.linalg.norm(mean_a) / self.numpy.linalg.norm(mean_b), 12)
        self.assertAlmostEqual(found["class_cosine"], cosines[0], 12)
        self.assertIsNone(found["perplexity"])
        zero = self.torch.zeros(2, 3)
        self.assertEqual(self.drift_of(zero, zero),
                         {"relative": 0.0, "cosine": 1.0, "least_cosine": 1.0, "rows_not_finite": 0})
        self.assertEqual(self.drift_of(zero + 1, zero),
                         {"relative": math.inf, "cosine": 0.0, "least_cosine": 0.0, "rows_not_finite": 0})

    def test_rows_that_are_not_finite_have_no_cosine_and_are_counted(self):
        a, b = (self.torch.tensor(self.random.normal(0, 1, (6, 5))) for _ in range(2))
        finite = self.drift_of(a[2:], b[2:])
        a[0, 3], a[1, 0] = math.nan, math.inf
        found = self.drift_of(a, b)
        self.assertEqual(found["rows_not_finite"], 2)
        self.assertEqual((found["cosine"], found["least_cosine"]), (finite["cosine"], finite["least_cosine"]))
        self.assertFalse(math.isfinite(found["relative"]))
        none = self.drift_of(a[:2], b[:2])
        self.assertTrue(math.isnan(none["cosine"]) and math.isnan(none["least_cosine"]))

    @needs("transformers")
    def test_the_perplexity_is_that_of_the_models_own_loss(self):
        import transformers
        from test_reading import SMALL, WORDS, Reading

        from fovea.effect import Effects
        from fovea.reading import ReadingModel, Request

        self.torch.manual_seed(0)
        config = transformers.LlamaConfig(vocab_size=len(WORDS), **SMALL)
        model = transformers.LlamaForCausalLM._from_config(config).eval()
        tokenizer = Reading.tokenizer(type("Own", (), {"transformers": transformers}))
        text = "the cat sat on the mat the cat"

        @contextlib.contextmanager
        def louder(_):
            weights = model.model.layers[1].self_attn.v_proj.weight
            with self.torch.no_grad():
                weights.mul_(2)
            yield
            with self.torch.no_grad():
                weights.mul_(0.5)

        found = Effects(ReadingModel(model, tokenizer)).measure(Request(text), louder)
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        with self.torch.no_grad():
            own = float(model(ids, labels=ids).loss)
        self.assertAlmostEqual(found["exact_loss_per_token"], own, 5)
        self.assertEqual(len(found["drift"]), 2)
        self.assertEqual(found["drift"][0]["relative"], 0)  # the layer before the change
        self.assertGreater(found["drift"][1]["relative"], 0)
        self.assertGreater(found["kl_mean"], 0)
        self.assertEqual(found["tokens"], 8)
        # After a step of training exact attention is computed again.
        effects = Effects(ReadingModel(model, tokenizer))
        before = effects.measure(Request(text), lambda _: contextlib.nullcontext())
        with self.torch.no_grad():
            model.model.layers[0].mlp.up_proj.weight.mul_(1.5)
        after = effects.measure(Request(text), lambda _: contextlib.nullcontext())
        self.assertNotEqual(after["exact_perplexity"], before["exact_perplexity"])
        self.assertEqual(after["kl_max"], 0)


    @needs("transformers")
    @unittest.skipUnless(PROGRAM, "the program is not built")
    def test_a_hosted_model_measures_variants_in_some_heads(self):
        import transformers
        from test_reading import SMALL, WORDS, Reading

        from fovea.hosted import HostedModel
        from fovea.reading import Request

        self.torch.manual_seed(0)
        config = transformers.LlamaConfig(vocab_size=len(WORDS), num_key_value_heads=2, **SMALL)
        model = transformers.LlamaForCausalLM._from_config(config).eval()
        hosted = HostedModel(model, Reading.tokenizer(type("Own", (), {"transformers": transformers})))
        request = Request("the cat sat on the mat the cat sat on the mat")

        def measured(variant, where, **parameters):
            content = {"parts": [{"variant": variant, "where": where, "parameters": parameters}]}
            with mock.patch.dict(os.environ, {"FOVEA": PROGRAM}):
                return hosted.effect(request, content)

        numbers, arrays = measured("exact", [[0, None], [1, None]])
        self.assertLess(numbers["kl_max"], 1e-9)  # squares of float32's rounding, times logits of some 10
        self.assertLess(numbers["drift"][1]["relative"], 1e-5)
        self.assertEqual(arrays["loss"].shape, (11,))
        self.assertEqual(len(numbers["labels"]), 12)
        some, _ = measured("window", [[1, [0, 3]]], width=0)
        more, _ = measured("window", [[0, [0]], [1, [0, 3]]], width=0)
        every, _ = measured("window", [[0, None], [1, None]], width=0)
        self.assertEqual(some["drift"][0]["relative"], 0)
        self.assertGreater(more["drift"][0]["relative"], 0)
        self.assertGreater(every["drift"][0]["relative"], more["drift"][0]["relative"])
        self.assertNotEqual(some["perplexity"], every["perplexity"])


    @needs("transformers")
    @unittest.skipUnless(PROGRAM, "the program is not built")
    def test_layers_below_the_first_replaced_one_are_not_run_again(self):
        import transformers
        from test_reading import SMALL, WORDS, Reading

        from fovea.hosted import HostedModel
        from fovea.reading import Request

        tokenizer = Reading.tokenizer(type("Own", (), {"transformers": transformers}))
        request = Request("the cat sat on the mat the cat sat on the mat")
        models = (("Llama", "num_key_value_heads"), ("GPT2", ""), ("Bert", ""))
        for name, grouped in models:
            with self.subTest(name), mock.patch.dict(os.environ, {"FOVEA": PROGRAM}):
                self.torch.manual_seed(0)
                small = {**SMALL, "num_hidden_layers": 3, **({grouped: 2} if grouped else {})}
                if name == "GPT2":
                    small = {"n_embd": small["hidden_size"], "n_head": 4, "n_layer": 3, "n_positions": 64}
                config = getattr(transformers, f"{name}Config")(vocab_size=len(WORDS), **small)
                kind = "BertModel" if name == "Bert" else f"{name}{'LMHeadModel' if name == 'GPT2' else 'ForCausalLM'}"
                model = getattr(transformers, kind)._from_config(config).eval()
                hosted = HostedModel(model, tokenizer)
                ran = []
                layers = next(module for module in model.modules() if type(module).__name__ == "ModuleList")
                hooks = [layer.self_attn.register_forward_pre_hook(lambda *_, n=n: ran.append(n)) if name == "Llama"
                         else next(layer.children()).register_forward_pre_hook(lambda *_, n=n: ran.append(n))
                         for n, layer in enumerate(layers)]

                def measured(where):
                    ran.clear()
                    return hosted.effect(request, {"parts": [{"variant": "window", "where": where,
                                                              "parameters": {"width": 1}}]})

                measured([[0, None]])
                some, arrays = measured([[2, None]])
                self.assertEqual(ran, [2])
                hosted._effects._layers._in_turn = False  # as of a model whose layers do not follow each other
                whole, expected = measured([[2, None]])
                self.assertEqual(sorted(set(ran)), [0, 1, 2])
                self.assertEqual(some["drift"], whole["drift"])
                self.assertEqual(some["perplexity"], whole["perplexity"])
                for each, array in expected.items():
                    self.numpy.testing.assert_array_equal(arrays[each], array)
                for hook in hooks:
                    hook.remove()
                self.assertFalse(any("forward" in vars(layer) for layer in layers))

    @needs("transformers")
    @unittest.skipUnless(PROGRAM, "the program is not built")
    def test_timed_passes_take_turns_and_run_all_layers(self):
        import transformers
        from test_reading import SMALL, WORDS, Reading

        from fovea.hosted import HostedModel
        from fovea.reading import Request

        self.torch.manual_seed(0)
        config = transformers.LlamaConfig(vocab_size=len(WORDS), **{**SMALL, "num_hidden_layers": 3})
        model = transformers.LlamaForCausalLM._from_config(config).eval()
        hosted = HostedModel(model, Reading.tokenizer(type("Own", (), {"transformers": transformers})))
        passes = []  # the layers that run
        for number, layer in enumerate(model.model.layers):
            layer.self_attn.register_forward_pre_hook(lambda *_, number=number: passes.append(number))
        request = Request("the cat sat on the mat the cat sat on the mat")
        content = {"parts": [{"variant": "window", "where": [[2, None]], "parameters": {"width": 1}}]}
        with mock.patch.dict(os.environ, {"FOVEA": PROGRAM}):
            first = hosted.effect_time(request, content)
            self.assertEqual(passes, 3 * [0, 1, 2])  # the first is not counted
            passes.clear()
            again = hosted.effect_time(request, content)
            self.assertEqual(passes, 2 * [0, 1, 2])
            passes.clear()
            hosted.effect(request, content)
            self.assertEqual(passes, [0, 1, 2, 2])
        for times in (first, again):
            self.assertEqual(set(times), {"exact_seconds", "seconds", "attention_seconds"})
            for seconds in times.values():
                self.assertGreater(seconds, 0)

    @needs("transformers")
    def test_exact_outputs_are_computed_again_when_a_parameter_or_a_buffer_changes(self):
        import transformers
        from test_reading import SMALL, WORDS, Reading

        from fovea.effect import Effects
        from fovea.reading import ReadingModel, Request

        self.torch.manual_seed(0)
        model = transformers.LlamaForCausalLM._from_config(transformers.LlamaConfig(vocab_size=len(WORDS), **SMALL))
        tokenizer = Reading.tokenizer(type("Own", (), {"transformers": transformers}))
        effects = Effects(ReadingModel(model.eval(), tokenizer))

        def exact_loss():
            found = effects.measure(Request("the cat sat on the mat the cat"), contextlib.nullcontext)
            self.assertEqual(found["loss_per_token"], found["exact_loss_per_token"])
            return found["exact_loss_per_token"]

        losses = [exact_loss()]
        for tensor in (model.model.layers[1].self_attn.v_proj.weight, model.model.rotary_emb.inv_freq):
            with self.torch.no_grad():
                tensor.mul_(2)
            losses.append(exact_loss())
        self.assertEqual(len(set(losses)), 3)

    def test_each_part_of_a_policy_keeps_its_seed(self):
        from fovea.replace import read_policy

        parts = [{"variant": "hyper", "where": "0", "seed": 7}, {"variant": "hyper", "where": "1.2"}]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "policy.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"policy": 1, "layers": 2, "heads": 4, "parts": parts}, file)
            self.assertEqual([part.seed for part in read_policy(path)], [7, 0])

    @needs("transformers")
    @unittest.skipUnless(PROGRAM, "the program is not built")
    def test_several_parts_share_a_layer_and_their_costs_are_told(self):
        import transformers
        from test_reading import SMALL, WORDS, Reading

        import fovea
        from fovea.hosted import HostedModel
        from fovea.reading import Request

        self.torch.manual_seed(0)
        config = transformers.LlamaConfig(vocab_size=len(WORDS), num_key_value_heads=2, **SMALL)
        model = transformers.LlamaForCausalLM._from_config(config).eval()
        tokenizer = Reading.tokenizer(type("Own", (), {"transformers": transformers}))
        text = "the cat sat on the mat the cat sat on the mat"
        parts = [{"variant": "window", "where": [[0, [1]], [1, None]], "parameters": {"width": 1}},
                 {"variant": "window", "where": [[0, [2, 3]]], "parameters": {"width": 0}}]
        policy = {"policy": 1, "layers": 2, "heads": 4, "parts": [
            {"variant": "window", "where": "0.1,1", "parameters": {"width": 1}, "seed": 0},
            {"variant": "window", "where": "0.2-3", "parameters": {"width": 0}, "seed": 0}]}
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        with mock.patch.dict(os.environ, {"FOVEA": PROGRAM}), tempfile.TemporaryDirectory() as folder:
            numbers, arrays = HostedModel(model, tokenizer).effect(Request(text), {"parts": parts})
            path = os.path.join(folder, "policy.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(policy, file)
            with self.torch.no_grad(), fovea.replace(model, policy=path):
                replaced = float(model(ids, labels=ids).loss)
            with self.assertRaisesRegex(fovea.FoveaError, "expected no variant"):
                fovea.replace(model, "window", policy=path)
            for wrong in ("[]", "{", '{"policy": 1}',
                          json.dumps({**policy, "layers": 1}), json.dumps({**policy, "parts": [{}]})):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(wrong)
                with self.assertRaisesRegex(fovea.FoveaError, "policy.json"):
                    fovea.replace(model, policy=path)
        self.assertAlmostEqual(numbers["loss_per_token"], replaced, 5)
        # Of 12 causal tokens: 78 pairs, of which each query keeps one, or itself and the one before.
        self.numpy.testing.assert_allclose(arrays["multiply_adds"] / arrays["exact_multiply_adds"],
                                           [23 / 78, 12 / 78], rtol=1e-12)
        # The first part is in five heads, the second in two.
        self.numpy.testing.assert_allclose(arrays["exact_multiply_adds"][0] / 5, arrays["exact_multiply_adds"][1] / 2)
        self.assertEqual(len(numbers["likeliest"]), 12 * 5)
        self.assertEqual(arrays["likeliest"].shape, (60,))

    @needs("transformers")
    @unittest.skipUnless(PROGRAM, "the program is not built")
    def test_the_command_measures_a_model_through_this_python(self):
        import transformers
        from test_reading import SMALL, WORDS, Reading

        self.torch.manual_seed(0)
        config = transformers.LlamaConfig(vocab_size=len(WORDS), num_key_value_heads=2, **SMALL)
        model = transformers.LlamaForCausalLM._from_config(config).eval()
        tokenizer = Reading.tokenizer(type("Own", (), {"transformers": transformers}))
        text = "the cat sat on the mat the cat sat on the mat"
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            found = self.command(folder, text, "window", "--set", "width=1", "--heads", "1.*,0.2")
            import fovea

            ids = tokenizer(text, return_tensors="pt")["input_ids"]
            with self.torch.no_grad(), mock.patch.dict(os.environ, {"FOVEA": PROGRAM}):
                exact = float(model(ids, labels=ids).loss)
                with fovea.replace(model, "window", layers=1, width=1), \
                        fovea.replace(model, "window", layers=0, heads=[2], width=1):
                    replaced = float(model(ids, labels=ids).loss)
        self.assertAlmostEqual(found["exact_loss_per_token"], exact, 5)
        self.assertAlmostEqual(found["loss_per_token"], replaced, 5)
        self.assertGreater(abs(replaced - exact), 1e-4)
        self.assertEqual((found["parts"][0]["heads"], found["heads_of_model"], found["tokens"]), (5, 8, 12))
        self.assertEqual((len(found["drift"]), len(found["loss"]), len(found["kl"])), (2, 11, 12))

    @needs("transformers")
    @unittest.skipUnless(PROGRAM, "the program is not built")
    def test_the_own_encoder_and_this_python_agree(self):
        import transformers

        from fovea.hosted import HostedModel
        from fovea.reading import Request

        self.torch.manual_seed(0)
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "on", "mat"]
        config = transformers.BertConfig(vocab_size=len(words), hidden_size=32, intermediate_size=48,
                                         num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64)
        model = transformers.BertModel._from_config(config).eval()
        for parameter in model.parameters():
            if parameter.ndim == 2:
                parameter.data.normal_(0, 0.3)
        text = "the cat sat on the mat " * 8
        with tempfile.TemporaryDirectory() as folder:
            vocabulary = os.path.join(folder, "vocab.txt")
            with open(vocabulary, "w", encoding="utf-8") as file:
                file.write("\n".join(words) + "\n")
            tokenizer = transformers.BertTokenizerFast(vocabulary)
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            hosted = HostedModel(model, tokenizer)
            for variant, parameters in (("window", {"width": "4"}), ("fixed", {"stride": "8"}), ("h1d", {"block": "4"}),
                                        ("hyper", {"block": "8", "min_length": "1"}), ("tf", {"height": "2"})):
                sets = [word for key, value in parameters.items() for word in ("--set", f"{key}={value}")]
                own = self.command(folder, text, variant, *sets, "--heads", "0.1-2,1")
                content = {"parts": [{"variant": variant, "parameters": parameters,
                                      "where": [[0, [1, 2]], [1, None]]}]}
                with mock.patch.dict(os.environ, {"FOVEA": PROGRAM}):
                    theirs, _ = hosted.effect(Request(text), content)
                self.assertIsNone(own["perplexity"])
                for ours, their in zip(own["drift"], theirs["drift"]):
                    # Both compute in float32, with sums in other orders.
                    self.assertAlmostEqual(ours["relative"], their["relative"], 4, variant)
                    self.assertAlmostEqual(ours["least_cosine"], their["least_cosine"], 4, variant)
                self.assertGreater(own["drift"][1]["relative"], 0.001, variant)

    @needs("transformers")
    @unittest.skipUnless(PROGRAM, "the program is not built")
    def test_a_folder_of_texts_gives_means_and_intervals(self):
        import transformers
        from test_reading import SMALL, WORDS, Reading

        self.torch.manual_seed(0)
        config = transformers.LlamaConfig(vocab_size=len(WORDS), num_key_value_heads=2, **SMALL)
        model = transformers.LlamaForCausalLM._from_config(config).eval()
        tokenizer = Reading.tokenizer(type("Own", (), {"transformers": transformers}))
        texts = {"a.txt": "the cat sat on the mat", "b.txt": "the mat the mat the cat sat", "c.txt": "on the cat sat"}
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as inputs:
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            for name, text in texts.items():
                with open(os.path.join(inputs, name), "w", encoding="utf-8") as file:
                    file.write(text)
            common = ["--variant", "window", "--set", "width=1", "--rounds", "2"]
            every = self.document(folder, "--input", inputs, *common)
            each = [self.document(folder, "--text", text, *common) for text in texts.values()]
        self.assertEqual([os.path.basename(one["input"]) for one in every["inputs"]], list(texts))
        for name in ("perplexity", "exact_perplexity", "loss_per_token", "kl_mean", "kl_max", "change"):
            values = [one[name] for one in each]
            self.assertEqual([one[name] for one in every["inputs"]], values)
            self.assertEqual(every[name + "_inputs"], 3)
            self.assertAlmostEqual(every[name], self.numpy.mean(values), 9)
            half = 4.302652729911275 * self.numpy.std(values, ddof=1) / math.sqrt(3)  # t of two degrees
            self.numpy.testing.assert_allclose(every[name + "_interval"],
                                               [every[name] - half, every[name] + half], atol=1e-9)
        self.assertEqual(every["time"]["rounds"], 2)
        self.assertGreater(every["time"]["model_speed_up"], 0)
        self.assertIsNone(every["loss"])
        self.assertEqual(every["tokens"], sum(one["tokens"] for one in each))

    def document(self, folder, *more):
        done = subprocess.run([PROGRAM, "effect", folder, "--json", "--python", sys.executable, *more],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def command(self, folder, text, variant, *more):
        return self.document(folder, "--text", text, "--variant", variant, *more)


if __name__ == "__main__":
    unittest.main()
