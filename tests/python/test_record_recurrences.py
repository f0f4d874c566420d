"""fovea.record on layers of transformers that compute a recurrence: Gated DeltaNet, KDA and the SSD of Mamba-2.

Every recording is held against tests/captures/check_captures.py, which computes the recurrence of its file in float64.
"""
import functools
import json
import sys
import unittest
from types import SimpleNamespace
from unittest import mock

from package import needs
from recorded import OfTransformers

COMMON = dict(vocab_size=40, hidden_size=32, intermediate_size=32, num_attention_heads=4, num_key_value_heads=4,
              pad_token_id=0)
GATED = dict(COMMON, num_hidden_layers=4, linear_num_value_heads=4, linear_num_key_heads=2, linear_key_head_dim=8,
             linear_value_head_dim=12)
EXPERTS = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16, shared_expert_intermediate_size=16)
LOCAL_EXPERTS = dict(num_local_experts=4, num_experts_per_tok=2, moe_intermediate_size=16)
CHANNELS = dict(linear_num_heads=4, linear_head_dim=8)
LATENT = dict(COMMON, kv_lora_rank=16, qk_nope_head_dim=8, v_head_dim=8)
ROTARY_LATENT = dict(LATENT, q_lora_rank=None, qk_rope_head_dim=8)
INDEXER = dict(indexer_n_heads=2, indexer_kv_heads=1, indexer_head_dim=8, indexer_budget=256, indexer_compress_ratio=4)
MAMBA = dict(COMMON, mamba_n_heads=8, mamba_d_head=8, mamba_d_state=8, mamba_n_groups=2, mamba_expand=2)
THREE = dict(num_hidden_layers=3, layers_block_type=["mamba", "attention", "mamba"])

# Classes of models, sizes, the layers that are recurrences, and the names of the others.
MODELS = {
    "Qwen3NextModel": (dict(GATED, **EXPERTS, head_dim=8), ["layer0", "layer1", "layer2"], ["layer3"]),
    "Qwen3_5TextModel": (dict(GATED, head_dim=8), ["layer0", "layer1", "layer2"], ["layer3"]),
    "Qwen3_5MoeTextModel": (dict(GATED, **EXPERTS, head_dim=8), ["layer0", "layer1", "layer2"], ["layer3"]),
    "Qwen4ExpTextModel": (dict(GATED, **EXPERTS, **INDEXER, head_dim=8, hc_count=2, hc_lowrank=4),
                          ["layer0", "layer1", "layer2"], ["layer3"]),
    "OlmoHybridModel": (dict(GATED, linear_num_key_heads=4, linear_allow_neg_eigval=True),
                        ["layer0", "layer1", "layer2"], ["layer3"]),
    "LaraMiniModel": (GATED, ["layer0", "layer2"], ["layer1", "layer3"]),
    "KimiLinearModel": (dict(ROTARY_LATENT, **CHANNELS, **LOCAL_EXPERTS, num_hidden_layers=2,
                             layer_types=["linear_attention", "full_attention"]), ["layer0"], ["layer1"]),
    "BailingHybridModel": (dict(ROTARY_LATENT, **LOCAL_EXPERTS, head_dim=8, num_hidden_layers=2, layer_group_size=2,
                                n_group=1, topk_group=1), ["layer0"], ["layer1"]),
    "Glm5NextTextModel": (dict(LATENT, **CHANNELS, q_lora_rank=16, qk_rope_head_dim=0, num_hidden_layers=2,
                               n_routed_experts=4, num_experts_per_tok=2, moe_intermediate_size=16, index_head_dim=8,
                               index_n_heads=2, hc_mult=2, layer_types=2 * ["linear_attention"], use_cache=False),
                          ["layer0", "layer1"], []),
    "Mamba2Model": (dict(vocab_size=40, hidden_size=32, num_hidden_layers=2, num_heads=8, head_dim=8, state_size=8,
                         n_groups=2, expand=2), ["layer0", "layer1"], []),
    "BambaModel": (dict(MAMBA, num_hidden_layers=3, attn_layer_indices=[1]), ["layer0", "layer2"], ["layer1"]),
    "GraniteMoeHybridModel": (dict(MAMBA, num_hidden_layers=3, layer_types=["mamba", "attention", "mamba"],
                                   num_local_experts=4, num_experts_per_tok=2, shared_intermediate_size=16),
                              ["layer0", "layer2"], ["layer1"]),
    "NemotronHModel": (dict(COMMON, **THREE, mamba_num_heads=8, mamba_head_dim=8, ssm_state_size=8, n_groups=2,
                            head_dim=8), ["layer0", "layer2"], ["layer1"]),
    "FalconH1Model": (dict(MAMBA, num_hidden_layers=2, mamba_d_ssm=64, head_dim=8),
                      ["mamba.layer0", "mamba.layer1"], ["layer0", "layer1"]),
    "Zamba2Model": (dict(COMMON, mamba_d_state=8, mamba_headdim=8, mamba_ngroups=2, n_mamba_heads=8, mamba_expand=2,
                         num_hidden_layers=3, layers_block_type=["mamba", "hybrid", "mamba"], num_mem_blocks=1,
                         chunk_size=16, adapter_rank=4), ["layer0", "mamba.layer1", "layer2"], ["layer1"]),
}


@needs("numpy", "torch", "transformers")
class Recurrences(OfTransformers):
    def setUp(self):
        super().setUp()
        import numpy

        from fovea import recurrent_layers

        self.numpy, self.layers = numpy, recurrent_layers
        self.text = self.torch.randint(3, 40, (1, 70))  # more than a chunk of 64

    def hybrid(self, name="Qwen3NextModel", **more):
        sizes = {**MODELS[name][0], **more}
        if not hasattr(self.transformers, name):
            self.skipTest(f"this transformers has no {name}")
        config = name.replace("Text", "").replace("Model", "Config") if "Text" not in name else name[:-5] + "Config"
        model = self.model(name, config, **sizes)
        for path, parameter in model.named_parameters():
            if path.endswith("A_log"):
                parameter.uniform_(-5, 0)  # or decays would be those of a token or two
        return model

    def test_all_models(self):
        """The recurrence of every file is the model's, under the number of its layer; the model's results stay."""
        for name, (_, recurrent, others) in MODELS.items():
            with self.subTest(name):
                model = self.hybrid(name)
                plain = model(self.text)[0]
                content = self.record(lambda: model(self.text), tokens=[f"w{i}" for i in range(70)])
                self.assertTrue(self.torch.equal(plain, self.result[0]))
                self.assertEqual(sorted(self.recording.calls), sorted(recurrent + others))
                said = self.captures.said
                delta = any(path.endswith(".beta") for path in content.arrays)
                for prefix in recurrent:
                    self.assertEqual(said(content.metadata, prefix, "recurrence"), "delta" if delta else "linear")
                    self.assertEqual(said(content.metadata, prefix, "causal"), "true")
                    self.assertIn(f"{prefix}.log_decay", content.arrays)
                for prefix in others:
                    self.assertIsNone(said(content.metadata, prefix, "recurrence"))
                    self.assertNotIn(f"{prefix}.log_decay", content.arrays)
                self.assertEqual(len(json.loads(content.metadata["tokens"])), 70)

    def test_gated_delta_net(self):
        """Shapes, norms, and the way from z to the output of the module."""
        model = self.hybrid()
        module, seen = model.layers[1].linear_attn, {}
        hook = module.register_forward_hook(lambda _, args, kwargs, output: seen.update(
            x=args[0] if args else kwargs["hidden_states"], y=output), with_kwargs=True)
        content = self.record(lambda: model(self.text))
        hook.remove()
        arrays = {name[7:]: array for name, array in content.arrays.items() if name.startswith("layer1.")}
        self.assertEqual({name: array.shape for name, array in arrays.items()}, {
            "q": (4, 70, 8), "k": (4, 70, 8), "v": (4, 70, 12), "z": (4, 70, 12), "beta": (4, 70),
            "log_decay": (4, 70)})
        self.assertEqual(content.arrays["layer3.k"].shape, (4, 70, 8))
        for name in ("q", "k"):  # the kernel adds 1e-6 to squares
            self.assertLess(abs(self.numpy.linalg.norm(arrays[name], axis=2) - 1).max(), 0.01)
        self.assertTrue((arrays["k"][0] == arrays["k"][1]).all())  # value heads 0 and 1 share a key head
        self.assertFalse((arrays["k"][1] == arrays["k"][2]).all())
        self.assertEqual(content.metadata["scale"], repr(8**-0.5))
        gate = module.fix_query_key_value_ordering(module.in_proj_qkvz(seen["x"]), module.in_proj_ba(seen["x"]))[3]
        z = self.torch.from_numpy(arrays["z"]).transpose(0, 1)
        normed = module.norm(z.reshape(-1, 12), gate.reshape(-1, 12))
        self.assertTrue(self.torch.equal(module.out_proj(normed.reshape(1, 70, -1)), seen["y"]))

    def test_mamba_2(self):
        """Values are dt x, and z is without D x, which is added on the way to the output of the module."""
        model = self.hybrid("Mamba2Model")
        module, seen = model.layers[1].mixer, {}
        module.D.normal_()
        hooks = [module.norm.register_forward_pre_hook(lambda _, args: seen.update(scan=args[0], gate=args[1])),
                 module.register_forward_pre_hook(lambda _, args, kwargs: seen.update(
                     x=args[0] if args else kwargs["hidden_states"]), with_kwargs=True)]
        content = self.record(lambda: model(self.text))
        for hook in hooks:
            hook.remove()
        arrays = {name[7:]: array for name, array in content.arrays.items() if name.startswith("layer1.")}
        self.assertEqual({name: array.shape for name, array in arrays.items()}, {
            "q": (8, 70, 8), "k": (8, 70, 8), "v": (8, 70, 8), "z": (8, 70, 8), "log_decay": (8, 70)})
        self.assertTrue((arrays["q"][0] == arrays["q"][3]).all())  # a group of 4 heads
        self.assertFalse((arrays["q"][3] == arrays["q"][4]).all())
        self.assertEqual(content.metadata["scale"], "1.0")
        torch = self.torch
        dt = torch.nn.functional.softplus(module.in_proj(seen["x"])[..., -8:] + module.dt_bias)[0].T[..., None]
        self.assertLess((torch.from_numpy(arrays["log_decay"]) + module.A_log.exp()[:, None] * dt[..., 0]).abs().max(),
                        1e-5)  # of numbers below 10 in float32
        x = torch.from_numpy(arrays["v"]) / dt
        scan = torch.from_numpy(arrays["z"]) + module.D[:, None, None] * x
        self.assertLess((scan.transpose(0, 1).reshape(1, 70, -1) - seen["scan"]).abs().max(), 1e-5 * scan.abs().max())

    def test_padding_and_batches(self):
        for name in ("Qwen3NextModel", "Mamba2Model"):
            model = self.hybrid(name)
            self.record(lambda: model(self.pair, attention_mask=self.left))
            self.assertIn("layer0.batch1", self.recording.calls)

    def test_bfloat16(self):
        """Keys that the kernel brings to norm 1 in float32 are float32."""
        for name in ("Qwen3NextModel", "KimiLinearModel", "Mamba2Model"):
            model = self.hybrid(name).to(self.torch.bfloat16)
            types = self.record(lambda: model(self.text)).types
            self.assertEqual((types["layer0.k"], types["layer0.log_decay"]),
                             ("BF16" if name == "Mamba2Model" else "F32", "F32"))

    def test_parts(self):
        model = self.hybrid()
        whole = self.record(lambda: model(self.text)).arrays
        content = self.record(lambda: model(self.text), layers=[1], heads=[3, 0], outputs=False)
        self.assertEqual(self.recording.calls, ["layer1"])
        for name in ("q", "k", "v", "beta", "log_decay"):
            self.assertTrue((content.arrays[f"layer1.{name}"] == whole[f"layer1.{name}"][[3, 0]]).all())
        self.assertNotIn("layer1.z", content.arrays)

    def test_steps_with_a_cache(self):
        """Their keys are in no call: the first call alone is recorded, with its tokens."""
        for name, sizes in (("Qwen3NextForCausalLM", MODELS["Qwen3NextModel"][0]),
                            ("Mamba2ForCausalLM", MODELS["Mamba2Model"][0])):
            model = self.model(name, **sizes)
            tokens = [f"w{i}" for i in range(11)]
            content = self.record(lambda: model.generate(self.ids, max_new_tokens=3, do_sample=False), tokens=tokens,
                                  warns="^Left out: .*layers.0.* and . more cannot be recorded: it goes on from a "
                                        "state, [^\n]*: record the whole text in one call of the model.$")
            self.assertEqual(content.arrays["layer0.q"].shape[1], 9)
            self.assertEqual([call for call in self.recording.calls if call.startswith("layer0")], ["layer0"])
            self.assertEqual(json.loads(self.captures.said(content.metadata, "layer0", "tokens")), tokens[:9])
            if name.startswith("Qwen"):
                self.assertIn("layer3.step2", self.recording.calls)
            self.record(lambda: model.generate(self.ids, max_new_tokens=3, do_sample=False), steps=0)
            with self.assertRaisesRegex(self.fovea.FoveaError, "Nothing was recorded: .* it goes on from a state"):
                with self.fovea.record(self.path(), steps=1, layers=0):
                    model.generate(self.ids, max_new_tokens=3, do_sample=False)

    def test_several_texts_in_a_row(self):
        q, g = self.torch.randn(1, 9, 2, 8), self.torch.zeros(1, 9, 2)

        def chunk(query, key, value, g, beta, **kwargs):
            return value, None

        seen = self.layers.seen_recurrence(None, "torch_chunk_gated_delta_rule", chunk, (q, q, q, g, g),
                                           dict(cu_seqlens=[0, 4, 9]), (q, None))
        with self.assertRaisesRegex(self.fovea.FoveaError, "texts of several lengths in one row"):
            next(seen.calls(9, True))

    def test_a_wrong_capture_is_refused(self):
        """Whatever of the gates, norms, heads or the scale is not what the kernel uses."""
        rows = self.layers.FUNCTIONS
        delta, scan = "torch_chunk_gated_delta_rule", "mamba2_chunk_scan"

        def tiled(array):  # heads 0, 1, 0, 1 in place of 0, 0, 1, 1
            return array.repeat(1, 2, 1, 1)

        cases = [
            (delta, "beta", lambda seen: None), (delta, "log_decay", lambda seen: 0 * seen.log_decay),
            (delta, "erases", lambda seen: False), (delta, "scale", lambda seen: 1.0),
            (delta, "k", lambda seen: 1.01 * seen.k), (delta, "k", lambda seen: tiled(seen.k)),
            (delta, "q", lambda seen: tiled(seen.q)),
            (scan, "log_decay", lambda seen: 1.01 * seen.log_decay), (scan, "erases", lambda seen: True),
            (scan, "v", lambda seen: 1.001 * seen.v),
            (scan, "output", lambda seen: lambda z=seen.output: z() + 1e-3 * seen.v),
        ]
        models = {delta: self.hybrid(), scan: self.hybrid("Mamba2Model")}
        for function, part, wrong in cases:
            def maker(*arguments, _row=rows[function]):
                seen = _row(*arguments)
                setattr(seen, part, wrong(seen))
                return seen

            with self.subTest(part=part), mock.patch.dict(rows, {function: maker}):
                # A head of the middle is checked: tiled heads are right at both ends.
                with mock.patch("fovea.seen._random", SimpleNamespace(randrange=lambda heads: 1)):
                    with self.assertRaisesRegex(self.fovea.FoveaError, "Nothing was recorded: .* cannot be recorded: "
                                                "the output computed from what was recorded differs from the model's"):
                        with self.fovea.record(self.path(), layers=0, outputs=False):
                            models[function](self.text)
        self.assertEqual(self.files(), [])

    def test_outputs_that_are_not_finite_are_refused(self):
        from fovea.call import Call
        from fovea.conditions import Conditions
        from fovea.recurrence import Recurrence, recurrent_difference

        array = self.numpy.ones((1, 5, 4))
        call = Call(array, array, array, self.numpy.inf * array, Conditions(causal=True), recurrence=Recurrence(False))
        self.assertRegex(recurrent_difference(call, 0, False), "something other than finite numbers")

    def test_a_skip_of_another_kind_is_refused(self):
        model = self.hybrid("Mamba2Model")
        home = sys.modules[type(model).__module__]
        scan = home.mamba2_chunk_scan

        @functools.wraps(scan)
        def larger(*args, D=None, **kwargs):
            return scan(*args, D=D if D is None else 1.01 * D, **kwargs)

        with mock.patch.object(home, "mamba2_chunk_scan", larger):
            with self.assertRaisesRegex(self.fovea.FoveaError, "another one than that of its scan and D x"):
                with self.fovea.record(self.path()):
                    model(self.text)

    def test_nothing_is_left_behind(self):
        for name in ("Qwen3NextModel", "KimiLinearModel", "Mamba2Model"):
            model = self.hybrid(name)
            home = sys.modules[type(model).__module__]
            before = dict(vars(home))
            self.record(lambda: model(self.ids))
            self.assertEqual(dict(vars(home)), before)

    def test_a_replacement_leaves_recurrences_alone(self):
        """fovea.replace is for softmax attention; a recording beside it has the recurrences with their outputs."""
        from fovea.layer_choice import LayerChoice
        from fovea.replace import Part, Replacing

        model = self.hybrid(layer_types=4 * ["linear_attention"], use_cache=False)
        plain = model(self.ids)[0]
        results = []

        def replaced():
            with mock.patch("fovea.replace.ask"):
                with self.assertRaisesRegex(self.fovea.FoveaError, "no attention was seen in Qwen3NextModel"):
                    with Replacing(model, [Part("exact", LayerChoice(None), None)]):
                        results.append(model(self.ids)[0])

        with mock.patch("fovea.watch.seen_recurrence", side_effect=ValueError):
            replaced()
        content = self.record(replaced)
        self.assertEqual(len(self.parts(content, "z")), 4)
        for result in results:
            self.assertTrue(self.torch.equal(plain, result))

    def test_the_window_gets_recurrences(self):
        """As a model on that a window looks answers."""
        from fovea.reading import ReadingModel, Request

        class Tokenizer(dict):
            is_fast = False

            def __call__(_, text, **more):
                return {"input_ids": self.ids}

            def convert_ids_to_tokens(_, ids):
                return [f"w{i}" for i in ids]

        heads = ReadingModel(self.hybrid(), Tokenizer()).heads(Request("a text"))
        self.assertEqual(heads.notes, [])
        self.assertIn("layer0.beta", heads.arrays)
        self.assertEqual(heads.metadata["layer0.recurrence"], "delta")


if __name__ == "__main__":
    unittest.main()
