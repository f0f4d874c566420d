"""fovea.record on models of transformers with random weights."""
import json
import sys
import unittest
import warnings
from unittest import mock

from package import in_threads, needs
from recorded import SMALL, OfTransformers


@needs("numpy", "torch", "transformers")
class Record(OfTransformers):
    def test_the_three_lines(self):
        model = self.llama()
        plain = model(self.ids)[0]
        content = self.record(lambda: model(self.ids), tokens=[f"w{i}" for i in self.ids[0].tolist()])
        self.assertTrue(self.torch.equal(plain, self.result[0]))
        self.assertEqual(self.parts(content, "q"), {"layer0.q": [4, 9, 8], "layer1.q": [4, 9, 8]})
        self.assertEqual(self.parts(content, "k"), {"layer0.k": [2, 9, 8], "layer1.k": [2, 9, 8]})
        self.assertEqual(content.metadata["causal"], "true")
        self.assertEqual(content.metadata["model"], "LlamaModel")
        self.assertEqual(content.metadata["layer1.module"], "layers.1.self_attn")
        self.assertEqual(len(json.loads(content.metadata["tokens"])), 9)
        self.assertEqual(self.parts(content, "mask"), {})

    def test_nothing_is_left_behind(self):
        interface = self.transformers.AttentionInterface
        before = dict(interface.__dict__), interface.__mro__[1].__dict__["__getitem__"]
        model = self.llama()
        self.record(lambda: model(self.ids))
        self.assertEqual((dict(interface.__dict__), interface.__mro__[1].__dict__["__getitem__"]), before)
        module = self.torch.nn.modules.module
        self.assertFalse(module._global_forward_pre_hooks or module._global_forward_hooks)
        self.assertEqual(self.torch.overrides._get_current_function_mode_stack(), [])
        self.assertEqual(model.config._attn_implementation, "sdpa")

    def test_transformers_may_be_imported_in_the_block(self):
        model = self.llama("eager")
        utils = sys.modules["transformers.modeling_utils"]

        def run():
            sys.modules["transformers.modeling_utils"] = utils
            return model(self.ids)

        with mock.patch.dict(sys.modules):
            del sys.modules["transformers.modeling_utils"]
            self.record(run)
        self.assertEqual(self.recording.calls, ["layer0", "layer1"])

    def test_the_models_own_functions(self):
        self.record(lambda: self.llama("eager")(self.ids))
        model = self.model("Gemma2Model", implementation="eager", **SMALL, num_key_value_heads=2, head_dim=8,
                           sliding_window=3, attn_logit_softcapping=2.0)
        said = self.record(lambda: model(self.ids)).metadata
        self.assertEqual((said["softcap"], said["causal"], said["layer0.window"]), ("2.0", "true", "3"))
        self.assertNotIn("layer1.window", said)
        self.assertNotIn("window", said)

    def test_sinks(self):
        model = self.model("GptOssModel", **SMALL, num_key_value_heads=2, head_dim=8, sliding_window=4,
                           num_local_experts=2, num_experts_per_tok=1)
        for layer in model.layers:
            layer.self_attn.sinks.normal_(1, 1)
        content = self.record(lambda: model(self.ids))
        self.assertEqual(content.arrays["layer1.sinks"].tolist(), model.layers[1].self_attn.sinks.tolist())

    def test_padding_on_the_left(self):
        for implementation in ("sdpa", "eager"):
            model = self.llama(implementation)
            content = self.record(lambda: model(self.pair, attention_mask=self.left))
            self.assertEqual(self.parts(content, "mask"), {"layer0.batch0.mask": [9], "layer1.batch0.mask": [9]})
            self.assertEqual(content.arrays["layer0.batch0.mask"].tolist(), [False] * 3 + [True] * 6)
            self.assertEqual(content.metadata["causal"], "true")

    def test_padding_on_the_right(self):
        model = self.model("BertModel")
        tokens = [[f"w{i}" for i in row] for row in self.pair.tolist()]
        content = self.record(lambda: model(self.pair, attention_mask=self.left.flip(1)), tokens=tokens)
        self.assertEqual(content.arrays["layer1.batch0.mask"].tolist(), [True] * 6 + [False] * 3)
        self.assertEqual(content.metadata["causal"], "false")
        self.assertEqual(json.loads(content.metadata["layer1.batch1.tokens"]), tokens[1])

    def test_steps_with_a_cache(self):
        model = self.model("LlamaForCausalLM", **SMALL, num_key_value_heads=2)
        tokens = [f"w{i}" for i in range(11)]
        more = dict(max_new_tokens=3, do_sample=False)
        for kind in ({}, dict(cache_implementation="static", disable_compile=True)):
            content = self.record(lambda: model.generate(self.ids, **more, **kind), tokens=tokens)
            self.assertEqual(self.parts(content, "k"), {
                "layer0.k": [2, 9, 8], "layer1.k": [2, 9, 8], "layer0.step1.k": [2, 10, 8],
                "layer1.step1.k": [2, 10, 8], "layer0.step2.k": [2, 11, 8], "layer1.step2.k": [2, 11, 8]})
            self.assertEqual(json.loads(content.metadata["layer0.step2.tokens"]), ["w10"])
            self.assertEqual(json.loads(content.metadata["layer0.step2.key_tokens"]), tokens)
            self.assertEqual(content.metadata["causal"], "true")

    def test_a_window_that_forgets(self):
        model = self.model("MistralForCausalLM", **SMALL, num_key_value_heads=2, head_dim=8, sliding_window=4)
        content = self.record(lambda: model.generate(self.ids, max_new_tokens=3, do_sample=False),
                              tokens=[f"w{i}" for i in range(11)])
        self.assertEqual(content.metadata["layer0.window"], "4")
        keys = json.loads(content.metadata["layer0.step2.key_tokens"])
        self.assertEqual(keys, [f"w{i}" for i in range(11)][-len(keys):])
        self.assertLess(len(keys), 11)

    def test_encoder_decoder_and_cross(self):
        self.need_5()
        sizes = dict(vocab_size=40, d_model=32, d_kv=8, d_ff=32, num_layers=1, num_heads=4)
        for implementation in ("sdpa", "eager"):
            model = self.model("T5Model", implementation=implementation, **sizes)
            content = self.record(lambda: model(input_ids=self.pair, attention_mask=self.left,
                                                decoder_input_ids=self.pair[:, :5]))
            self.assertEqual(sorted(self.parts(content, "k")), sorted(
                f"{role}.layer0.batch{b}.k" for role in ("encoder", "decoder", "cross") for b in (0, 1)))
            self.assertEqual(content.arrays["encoder.layer0.batch0.bias"].shape, (4, 9, 9))
            self.assertEqual(content.metadata["decoder.layer0.batch1.causal"], "true")
            self.assertEqual(content.arrays["cross.layer0.batch0.mask"].tolist(), [False] * 3 + [True] * 6)

    def test_a_bias_that_all_layers_share(self):
        """It is written once, if there is no call without it."""
        self.need_5()
        sizes = dict(vocab_size=40, d_model=32, d_kv=8, d_ff=32, num_layers=3, num_heads=4)
        model = self.model("T5EncoderModel", "T5Config", **sizes)
        content = self.record(lambda: model(self.pair, attention_mask=self.left))
        self.assertEqual([name for name in content.arrays if name.endswith("bias")], ["bias"])
        model = self.model("T5Model", "T5Config", **sizes)
        content = self.record(lambda: model(input_ids=self.ids, decoder_input_ids=self.ids))
        self.assertEqual(sorted(self.parts(content, "bias")), sorted(
            f"{role}.layer{i}.bias" for role in ("encoder", "decoder") for i in range(3)))
        self.assertNotIn("bias", content.arrays)

    def test_generation_of_an_encoder_decoder(self):
        self.need_5()
        model = self.model("T5ForConditionalGeneration", "T5Config", vocab_size=40, d_model=32, d_kv=8, d_ff=32,
                           num_layers=1, num_heads=4, decoder_start_token_id=0)
        content = self.record(lambda: model.generate(self.ids, max_new_tokens=2, min_new_tokens=2, do_sample=False))
        self.assertEqual(sorted(self.parts(content, "q")), [
            "cross.layer0.q", "cross.layer0.step1.q", "decoder.layer0.q", "decoder.layer0.step1.q",
            "encoder.layer0.q"])
        self.assertEqual(content.metadata["cross.layer0.step1.causal"], "false")
        self.assertEqual(content.metadata["decoder.layer0.step1.causal"], "true")

    def test_bloom(self):
        model = self.model("BloomModel", vocab_size=40, hidden_size=32, n_layer=2, n_head=4)
        content = self.record(lambda: model(self.pair, attention_mask=self.left))
        self.assertEqual(content.arrays["layer0.batch0.alibi"].tolist(), [0.25, 0.0625, 0.015625, 0.00390625])
        self.assertEqual(self.parts(content, "bias"), {})

    def test_bloom_with_a_cache(self):
        model = self.model("BloomForCausalLM", vocab_size=40, hidden_size=32, n_layer=1, n_head=4)
        content = self.record(lambda: model.generate(self.pair, attention_mask=self.left, max_new_tokens=2,
                                                     do_sample=False))
        self.assertEqual(content.arrays["layer0.step1.batch0.k"].shape, (4, 10, 8))
        self.assertEqual(content.arrays["layer0.step1.batch0.mask"].tolist(), [False] * 3 + [True] * 7)

    def test_falcon_with_alibi(self):
        model = self.model("FalconModel", vocab_size=40, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                           alibi=True)
        content = self.record(lambda: model(self.ids))
        self.assertEqual(content.arrays["layer0.alibi"].shape, (4,))

    def test_bfloat16(self):
        for implementation in ("sdpa", "eager"):
            model = self.llama(implementation).to(self.torch.bfloat16)
            with warnings.catch_warnings():
                warnings.simplefilter("error", self.fovea.FoveaWarning)
                with self.fovea.record(self.path()):
                    model(self.ids)
            self.assertEqual(self.fovea.read(self.path()).types["layer0.z"], "BF16")

    def test_towers_have_names(self):
        vision = dict(hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=4, image_size=16,
                      patch_size=8)
        text = dict(SMALL, num_hidden_layers=1, eos_token_id=1, bos_token_id=2)
        model = self.model("CLIPModel", text_config=text, vision_config=vision)
        content = self.record(lambda: model(self.ids, pixel_values=self.torch.randn(1, 3, 16, 16)))
        self.assertEqual(sorted(self.parts(content, "q")),
                         ["text_model.encoder.layer0.q", "vision_model.encoder.layer0.q"])

    def test_layers_and_heads(self):
        model = self.llama()
        content = self.record(lambda: model(self.ids), layers=[1], heads=[0, 2])
        self.assertEqual(self.parts(content, "q"), {"layer1.q": [2, 9, 8]})
        self.assertEqual(self.parts(content, "k"), {"layer1.k": [2, 9, 8]})
        content = self.record(lambda: model(self.ids), layers=["layers.0.self_attn"], heads=3)
        self.assertEqual(self.parts(content, "q"), {"layer0.q": [1, 9, 8]})
        self.assertEqual(self.parts(content, "k"), {"layer0.k": [1, 9, 8]})
        whole = self.record(lambda: model(self.ids))
        content = self.record(lambda: model(self.ids), heads=[3, 0, 1])
        for at, head in enumerate([3, 0, 1]):
            self.assertTrue((content.arrays["layer0.q"][at] == whole.arrays["layer0.q"][head]).all())
            self.assertTrue((content.arrays["layer0.k"][at] == whole.arrays["layer0.k"][head // 2]).all())
        with self.assertRaisesRegex(self.fovea.FoveaError, "heads has 4; layer0 has the heads 0 to 3"):
            self.record(lambda: model(self.ids), heads=[4])
        with self.assertRaisesRegex(self.fovea.FoveaError, "Seen were layer0, layer1"):
            self.record(lambda: model(self.ids), layers=[7])

    def test_some_heads_have_their_own_conditions(self):
        model = self.model("GptOssModel", **SMALL, num_key_value_heads=2, head_dim=8, num_local_experts=2,
                           num_experts_per_tok=1)
        for layer in model.layers:
            layer.self_attn.sinks.normal_(1, 1)
        content = self.record(lambda: model(self.ids), heads=[3, 1])
        self.assertEqual(content.arrays["layer1.sinks"].tolist(), model.layers[1].self_attn.sinks[[3, 1]].tolist())
        model = self.model("BloomModel", vocab_size=40, hidden_size=32, n_layer=2, n_head=4)
        content = self.record(lambda: model(self.ids), heads=[2])
        self.assertEqual(content.arrays["layer0.alibi"].tolist(), [0.015625])

    def test_without_outputs(self):
        content = self.record(lambda: self.llama()(self.ids), outputs=False)
        self.assertEqual(self.parts(content, "z"), {})

    def test_two_runs_are_steps(self):
        model = self.llama()
        content = self.record(lambda: (model(self.ids), model(self.ids)), layers=0)
        self.assertEqual(sorted(self.parts(content, "q")), ["layer0.q", "layer0.step1.q"])

    def test_attention_that_cannot_be_seen_is_an_error(self):
        longformer = self.model("LongformerModel", **SMALL, attention_window=4)
        self.path().write_bytes(b"before")
        with self.assertRaisesRegex(self.fovea.FoveaError, r"encoder.layer.0.attention.self .LongformerSelfAttention. "
                                                           "and 1 more cannot be recorded: its weights are not"):
            with self.fovea.record(self.path()):
                longformer(self.ids)
        self.assertEqual((self.path().read_bytes(), self.files()), (b"before", ["run.safetensors"]))
        mamba = self.model("MambaModel", vocab_size=40, hidden_size=32, num_hidden_layers=1)
        with self.assertRaisesRegex(self.fovea.FoveaError, "no attention was seen in MambaModel: there is no softmax"):
            with self.fovea.record(self.path()):
                mamba(self.ids)
        with self.assertRaisesRegex(self.fovea.FoveaError, "Call the model inside the with block"):
            with self.fovea.record(self.path()):
                pass

    def test_attention_that_is_missed_beside_another_is_warned_of(self):
        seen = self.llama()
        missed = self.model("LongformerModel", **{**SMALL, "num_hidden_layers": 1}, attention_window=4)
        self.record(lambda: (seen(self.ids), missed(self.ids)),
                    warns="^Left out: encoder.layer.0.attention.self .LongformerSelfAttention. cannot be recorded")

    def test_weights_alone(self):
        """Of models that compute attention by themselves, the weights that they return are recorded."""
        cases = {
            "GPTNeoModel": dict(vocab_size=40, hidden_size=32, num_layers=2, num_heads=4, window_size=4,
                                attention_types=[[["global", "local"], 1]]),
            "MptModel": dict(vocab_size=40, d_model=32, n_heads=4, n_layers=2),
            "DebertaModel": dict(SMALL, relative_attention=True, pos_att_type=["c2p", "p2c"], type_vocab_size=0),
            "XLNetModel": dict(vocab_size=40, d_model=32, n_layer=2, n_head=4, d_inner=32),
        }
        for name, sizes in cases.items():
            with self.subTest(name):
                model = self.model(name, **sizes)
                given = dict(attention_mask=self.left.flip(1))
                content = self.record(lambda: model(self.pair, **given)[0], warns="weights alone are recorded",
                                      tokens=["a"] * 9)
                weights = model(self.pair, **given, output_attentions=True).attentions
                self.assertEqual(self.recording.calls, [f"layer{i}.batch{b}" for i in (0, 1) for b in (0, 1)])
                for i in (0, 1):
                    for b in (0, 1):
                        found = content.arrays[f"layer{i}.batch{b}.attention"]
                        self.assertTrue((found == weights[i][b].numpy()).all())
                self.assertEqual(json.loads(content.metadata["tokens"]), ["a"] * 9)
                content = self.record(lambda: model(self.pair, **given), warns="alone", layers=1, heads=[2, 0])
                self.assertTrue((content.arrays["layer1.batch0.attention"] == weights[1][0][[2, 0]].numpy()).all())
                self.assertEqual(len(content.arrays), 2)

    def test_streams_are_no_tokens(self):
        """The softmax of a module that mixes streams is no attention, though its name says so."""
        if not hasattr(self.transformers, "DeepseekV4Config"):
            self.skipTest("this transformers has no DeepSeek V4")
        model = self.model("DeepseekV4Model", **SMALL, head_dim=8)
        self.record(lambda: model(self.ids))
        self.assertEqual(self.recording.calls, ["layer0", "layer1"])

    def compressing(self):
        """DeepSeek V4 with a window alone, entries of 4 tokens that an indexer chooses, and all entries of 8 tokens."""
        if not hasattr(self.transformers, "DeepseekV4Config"):
            self.skipTest("this transformers has no DeepSeek V4")
        kinds = ["sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"]
        model = self.model("DeepseekV4Model", **{**SMALL, "num_hidden_layers": 3}, num_key_value_heads=1, head_dim=16,
                           moe_intermediate_size=16, q_lora_rank=16, qk_rope_head_dim=8, o_groups=2, o_lora_rank=8,
                           n_routed_experts=4, num_experts_per_tok=2, index_n_heads=2, index_head_dim=8, index_topk=2,
                           sliding_window=5, layer_types=kinds,
                           compress_rates=dict(zip(kinds[1:], (4, 8))))
        for layer in model.layers:
            layer.self_attn.sinks.normal_(1, 1)
        return model, self.torch.randint(3, 40, (2, 29))

    def test_compressed_entries(self):
        model, pair = self.compressing()
        plain = model(pair)[0]
        content = self.record(lambda: model(pair), "2 more cannot be recorded: its weights are not")
        self.assertTrue(self.torch.equal(plain, self.result[0]))
        lines, good = self.captures.check(self.path())  # not done after a warning
        self.assertTrue(good, "\n".join(lines))
        both = [f"layer{i}.batch{b}" for i in (1, 2) for b in (0, 1)]
        self.assertEqual(self.parts(content, "k_extra"),
                         {f"{name}.k_extra": [1, 7 if "1." in name else 3, 16] for name in both})
        self.assertEqual(self.parts(content, "extra_indices"), {f"layer1.batch{b}.extra_indices": [29, 2] for b in (0, 1)})
        self.assertEqual((content.metadata["causal"], content.metadata["window"]), ("true", "5"))
        self.assertEqual(content.arrays["layer1.batch0.extra_tokens"][:3].tolist(), [[0, 4], [0, 8], [4, 12]])
        self.assertEqual(content.arrays["layer2.batch0.extra_tokens"].tolist(), [[0, 8], [8, 16], [16, 24]])
        some = self.record(lambda: model(pair), "cannot be recorded", heads=[2], layers=1)
        self.assertEqual(self.parts(some, "q"), {f"layer1.batch{b}.q": [1, 29, 16] for b in (0, 1)})

    def test_compressed_entries_of_a_cache_are_refused(self):
        model, pair = self.compressing()

        def run():
            cache = model(pair[:, :20], use_cache=True).past_key_values
            model(pair[:, 20:21], past_key_values=cache, use_cache=True)

        self.record(run, "it goes on from a cache of compressed entries")

    def test_weights_asked_of_pytorch(self):
        """WavLM asks multi_head_attention_forward for its weights."""
        model = self.model("WavLMModel", hidden_size=32, intermediate_size=32, num_hidden_layers=2,
                           num_attention_heads=4, conv_dim=(16, 16), conv_stride=(4, 4), conv_kernel=(8, 8),
                           num_feat_extract_layers=2, num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2)
        sound = self.torch.randn(1, 400)
        plain = model(sound)[0]
        content = self.record(lambda: model(sound))
        self.assertTrue(self.torch.equal(plain, self.result[0]))
        self.assertEqual(sorted(self.parts(content, "bias")), ["layer0.bias", "layer1.bias"])

    def test_implementations_that_cannot_be_seen_are_refused(self):
        model = self.llama("flex_attention")
        with self.assertRaisesRegex(self.fovea.FoveaError, "with flex_attention, which cannot be recorded. Load "):
            with self.fovea.record(self.path()):
                model(self.ids)
        self.assertEqual(self.files(), [])

    def test_threads(self):
        
        models = [self.llama() for _ in range(3)]

        def work(model):
            with self.torch.no_grad():
                for _ in range(3):
                    model(self.ids)

        self.record(lambda: in_threads(work, models))
        names = [("layer0", "layer1"), *((f"layers.0.self_attn{n}", f"layers.1.self_attn{n}") for n in ("", ".other"))]
        self.assertEqual({name for both in names for name in both},
                         {name.removesuffix(".step1").removesuffix(".step2") for name in self.recording.calls})
        self.assertEqual(len(self.recording.calls), 18)

    def test_the_advice_for_eager_models(self):
        model = self.model("FalconModel", vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=4,
                           implementation="eager")
        self.record(lambda: model(self.ids), warns="alone.*or load the model with attn_implementation=\"sdpa\"")

    def test_an_exception_passes(self):
        model = self.llama()
        with self.assertRaises(ZeroDivisionError):
            with self.fovea.record(self.path()):
                model(self.ids)
                1 / 0
        self.assertEqual(self.files(), [])

    def test_dropout_is_warned_of(self):
        model = self.llama(attention_dropout=0.5).train()
        content = self.record(lambda: model(self.ids), warns="call model.eval()")
        self.assertEqual(self.parts(content, "z"), {})

    def test_tokens_that_do_not_fit_are_warned_of(self):
        self.record(lambda: self.llama()(self.ids), tokens=["a"] * 4, warns="4 tokens were given, and layer0 had 9")
        self.record(lambda: self.llama()(self.ids), tokens=["a"] * 12, warns="12 tokens were given, and layer0 had 9")
        with self.assertRaisesRegex(self.fovea.FoveaError, "one string"):
            self.fovea.record(self.path(), tokens="text")

    def test_tokens_after_generating(self):
        model = self.model("LlamaForCausalLM", **SMALL, num_key_value_heads=2)
        prompt = [f"w{i}" for i in range(9)]

        def generate():
            return model.generate(self.ids, max_new_tokens=3, do_sample=False)

        content = self.record(generate, tokens=prompt, warns="9 tokens were given, which are those of the first step, "
                              "and layer0 had 11: set recording.tokens to all of them before the block ends")
        self.assertEqual(json.loads(content.metadata["layer0.tokens"]), prompt)

        def generate_and_name():
            self.recording.tokens = [str(i) for i in generate()[0].tolist()]

        content = self.record(generate_and_name)
        names = self.recording.tokens[0]
        self.assertEqual(json.loads(content.metadata["layer1.step2.key_tokens"]), names[:11])
        self.assertEqual(json.loads(content.metadata["layer1.step2.tokens"]), names[10:11])
        content = self.record(generate_and_name, steps=[0, 2])
        self.assertEqual(sorted(self.parts(content, "q")),
                         ["layer0.q", "layer0.step2.q", "layer1.q", "layer1.step2.q"])
        self.assertEqual(json.loads(content.metadata["layer1.step2.tokens"]), names[10:11])
        with self.assertRaisesRegex(self.fovea.FoveaError, "none of the attentions is in `layers` and `steps`"):
            self.record(generate, steps=7)

    def test_tokens_of_the_source(self):
        """They are those of the encoder, and never silently the decoder's."""
        self.need_5()
        model = self.model("T5Model", vocab_size=40, d_model=32, d_kv=8, d_ff=32, num_layers=1, num_heads=4)
        source, target = [f"s{i}" for i in range(9)], [f"t{i}" for i in range(5)]
        for decoder_ids in (self.ids[:, :5], self.ids):
            equal = decoder_ids is self.ids
            content = self.record(lambda: model(input_ids=self.ids, decoder_input_ids=decoder_ids), tokens=source,
                                  warns="are taken for those of the encoder: pass" if equal else "")
            said = content.metadata
            self.assertEqual(json.loads(said["encoder.layer0.tokens"]), source)
            self.assertEqual(json.loads(said["cross.layer0.key_tokens"]), source)
            self.assertNotIn("decoder.layer0.tokens", said)
            self.assertNotIn("tokens", said)
        content = self.record(lambda: model(input_ids=self.ids, decoder_input_ids=self.ids[:, :5]), tokens=target)
        self.assertEqual(json.loads(content.metadata["decoder.layer0.tokens"]), target)
        self.assertNotIn("encoder.layer0.tokens", content.metadata)
        content = self.record(lambda: model(input_ids=self.ids, decoder_input_ids=self.ids[:, :5]), tokens=target,
                              key_tokens=source)
        self.assertEqual(json.loads(content.metadata["cross.layer0.key_tokens"]), source)
        self.assertEqual(json.loads(content.metadata["cross.layer0.tokens"]), target)

    def test_tokens_of_a_text_beside_an_image(self):
        vision = dict(hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=4, image_size=24,
                      patch_size=8)  # 9 patches and a token of the class
        text = dict(SMALL, num_hidden_layers=1, eos_token_id=1, bos_token_id=2)
        model = self.model("CLIPModel", text_config=text, vision_config=vision)
        ids = self.torch.randint(3, 40, (1, 12))
        for count in (12, 10):
            content = self.record(lambda: model(ids[:, :count], pixel_values=self.torch.randn(1, 3, 24, 24)),
                                  tokens=["w"] * count)
            self.assertIn("text_model.encoder.layer0.tokens", content.metadata)
            self.assertNotIn("vision_model.encoder.layer0.tokens", content.metadata)

    def test_shared_layers_are_no_steps(self):
        model = self.model("AlbertModel", **{**SMALL, "num_hidden_layers": 3}, embedding_size=16)
        content = self.record(lambda: (model(self.ids), model(self.ids)), tokens=["w"] * 9)
        self.assertEqual(self.recording.calls, ["layer0", "layer0.call1", "layer0.call2", "layer0.step1",
                                                "layer0.step1.call1", "layer0.step1.call2"])
        self.assertEqual(json.loads(content.metadata["tokens"]), ["w"] * 9)

    def test_a_pipeline(self):
        """As SentenceTransformer has: the place in the pipeline is no layer."""
        bert = self.model("BertModel")
        first = self.torch.nn.Module()
        first.model, first.forward = bert, lambda ids: bert(ids)[0]
        model = self.torch.nn.Sequential(first, self.torch.nn.Linear(32, 8))
        self.record(lambda: model(self.ids), layers=[1])
        self.assertEqual(self.recording.calls, ["layer1"])

    def test_layers_without_attention_are_named(self):
        kind = dict(SMALL, num_key_value_heads=2, num_hidden_layers=4, attn_layer_period=2, attn_layer_offset=1,
                    use_mamba_kernels=False, mamba_d_state=4, mamba_dt_rank=4, num_experts=2, num_experts_per_tok=1)
        model = self.model("JambaModel", **kind)
        self.record(lambda: model(self.ids), warns="^No softmax attention was seen in layers.0, layers.2$")
        self.assertEqual(self.recording.calls, ["layer1", "layer3"])

    def test_no_folder_of_this_machine_is_written(self):
        model = self.llama()
        folder = self.folder / "secret" / "my-llama"
        model.save_pretrained(folder)
        for path in (folder, f"{folder}/"):
            loaded = self.transformers.LlamaModel.from_pretrained(path)
            content = self.record_in_folder(lambda: loaded(self.ids))
            self.assertEqual(content.metadata["model"], "my-llama")

    def record_in_folder(self, run):
        with self.fovea.record(self.path()):
            run()
        self.assertNotIn(b"secret", self.path().read_bytes())
        return self.fovea.read(self.path())

    def test_a_condition_that_is_lost_is_warned_of(self):
        """The comparison with the model's own output notices every condition that is dropped."""
        import fovea.seen

        self.need_5()
        recognised = fovea.seen.recognised
        gemma = self.model("Gemma2Model", implementation="eager", **SMALL, num_key_value_heads=2, head_dim=8,
                           sliding_window=3, attn_logit_softcapping=2.0)
        oss = self.model("GptOssModel", **SMALL, num_key_value_heads=2, head_dim=8, num_local_experts=2,
                         num_experts_per_tok=1)
        t5 = self.model("T5EncoderModel", "T5Config", vocab_size=40, d_model=32, d_kv=8, d_ff=32, num_layers=1,
                        num_heads=4)
        bloom = self.model("BloomModel", vocab_size=40, hidden_size=32, n_layer=2, n_head=4)
        bert = self.model("BertModel")
        short = self.llama("eager").to(self.torch.bfloat16)
        cases = [(gemma, "softcap"), (gemma, "causal"), (gemma, "window"), (oss, "sinks"), (t5, "bias"),
                 (bloom, "alibi"), (bloom, "causal"), (bert, "mask"), (self.llama(), "causal"), (short, "causal")]
        for model, lost in cases:
            def losing(*arguments, **more):
                found = recognised(*arguments, **more)
                self.assertTrue(getattr(found, lost) is not None or model is gemma or model is bert)
                setattr(found, lost, None)
                return found

            masks = dict(attention_mask=self.left.flip(1)) if model is bert else {}
            ids = self.pair if model is bert else self.ids
            with mock.patch.object(fovea.seen, "recognised", losing), self.subTest(lost=lost, model=type(model)):
                self.record(lambda: model(ids, **masks), warns="differs from the model's own")


if __name__ == "__main__":
    unittest.main()
