#!/usr/bin/env python3
"""make_captures.py [DIRECTORY] [NAME...]: records small random models, for tests of what opens such files.

Every file comes from fovea.record, with the model's own outputs beside q, k and v; check_captures.py computes
those again. Needs torch and transformers. Weights are made large, so that attention is far from uniform and a
wrong mask, cap or bias shows.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "app" / "python"))

import torch
import transformers

import fovea


def model_of(kind, config, **sizes):
    """A random model in evaluation mode; its projections of queries and keys are scaled up."""
    torch.manual_seed(7)
    name = kind.__name__.removesuffix("Model").removesuffix("ForCausalLM")
    model = kind(getattr(transformers, name + "Config" if config is None else config)(**sizes)).eval()
    with torch.no_grad():
        for path, parameter in model.named_parameters():
            last = path.split(".")[-2] if "." in path else path
            if last in ("q_proj", "k_proj", "q", "k", "query", "key", "query_key_value"):
                parameter.normal_(0, 0.35 if parameter.ndim > 1 else 0.1)
            elif path.endswith("relative_attention_bias.weight"):
                parameter.normal_(0, 1.5)
            elif path.endswith("sinks"):
                parameter.normal_(1, 1)
            elif path.endswith("A_log"):
                parameter.uniform_(-4, -1)  # or a recurrence would forget within a token or two
            elif path.endswith("dt_bias"):
                parameter.fill_(1)
            elif last in ("in_proj", "in_proj_qkvz", "in_proj_ba", "f_a_proj", "f_b_proj", "b_proj"):
                parameter.normal_(0, 0.35)
    return model


def ids_of(count, seed=1, batch=1):
    return torch.randint(3, 40, (batch, count), generator=torch.Generator().manual_seed(seed))


def words(ids):
    return [f"w{i}" for i in ids.tolist()]


SMALL = dict(vocab_size=40, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4)


def llama(path):
    """Grouped heads in bfloat16, and two steps with a cache."""
    model = model_of(transformers.LlamaForCausalLM, None, **SMALL, num_key_value_heads=2).to(torch.bfloat16)
    ids = ids_of(12)
    with fovea.record(path, tokens=words(ids[0])):
        past = model(ids[:, :10], use_cache=True).past_key_values
        for step in (10, 11):
            past = model(ids[:, step : step + 1], past_key_values=past, use_cache=True).past_key_values


def mistral(path):
    """A window of 5 in 14 tokens."""
    model = model_of(transformers.MistralForCausalLM, None, **SMALL, num_key_value_heads=2, head_dim=8,
                     sliding_window=5)
    ids = ids_of(14)
    with fovea.record(path, tokens=words(ids[0])):
        model(ids)


def gemma2(path):
    """A soft cap; windows in every other layer."""
    model = model_of(transformers.Gemma2ForCausalLM, None, **SMALL, num_key_value_heads=2, head_dim=8,
                     sliding_window=4, attn_logit_softcapping=3.0, query_pre_attn_scalar=4,
                     attn_implementation="eager")
    ids = ids_of(11)
    with fovea.record(path, tokens=words(ids[0])):
        model(ids)


def t5(path):
    """Position biases; encoder, decoder and cross attention."""
    model = model_of(transformers.T5Model, None, vocab_size=40, d_model=32, d_kv=8, d_ff=32, num_layers=2,
                     num_heads=4, relative_attention_num_buckets=8, relative_attention_max_distance=16)
    source, target = ids_of(13), ids_of(7, seed=2)
    with fovea.record(path, tokens=words(target[0]), key_tokens=words(source[0])):
        model(input_ids=source, decoder_input_ids=target)


def bloom(path):
    """ALiBi."""
    model = model_of(transformers.BloomModel, None, vocab_size=40, hidden_size=32, n_layer=2, n_head=4)
    ids = ids_of(10)
    with fovea.record(path, tokens=words(ids[0])):
        model(ids)


def gpt_oss(path):
    """Sinks; windows in every other layer."""
    model = model_of(transformers.GptOssForCausalLM, None, **SMALL, num_key_value_heads=2, head_dim=8,
                     sliding_window=4, num_local_experts=2, num_experts_per_tok=1,
                     layer_types=["sliding_attention", "full_attention"])
    ids = ids_of(12)
    with fovea.record(path, tokens=words(ids[0])):
        model(ids)


def whisper_cross(path):
    """Cross attention of 7 queries with 24 keys."""
    model = model_of(transformers.WhisperModel, None, vocab_size=40, d_model=32, encoder_layers=1, decoder_layers=2,
                     encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=32, decoder_ffn_dim=32,
                     num_mel_bins=8, max_source_positions=24, max_target_positions=16, pad_token_id=0,
                     bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
    sound = torch.randn(1, 8, 48, generator=torch.Generator().manual_seed(3))
    ids = ids_of(7)
    with fovea.record(path, layers=["cross.layer0", "cross.layer1"], tokens=words(ids[0])):
        model(sound, decoder_input_ids=ids)


def bert_padded(path):
    """A batch of two: 12 tokens, and 7 with 5 of padding."""
    model = model_of(transformers.BertModel, None, **SMALL)
    ids = ids_of(12, batch=2)
    mask = torch.ones_like(ids)
    mask[1, 7:] = 0
    tokens = [words(ids[0]), words(ids[1])[:7] + ["[PAD]"] * 5]
    with fovea.record(path, tokens=tokens):
        model(input_ids=ids, attention_mask=mask)


def vit(path):
    """Sixteen patches and a class token; every token sees every token."""
    model = model_of(transformers.ViTModel, None, hidden_size=32, intermediate_size=32, num_hidden_layers=2,
                     num_attention_heads=4, image_size=16, patch_size=4)
    image = torch.randn(1, 3, 16, 16, generator=torch.Generator().manual_seed(3))
    with fovea.record(path):
        model(image)


class Masked(torch.nn.Module):
    """Attention of four heads by PyTorch's own function, under any mask."""

    def __init__(self):
        super().__init__()
        self.project = torch.nn.Linear(32, 96)

    def forward(self, x, mask):
        q, k, v = self.project(x).view(1, -1, 3, 4, 8).permute(2, 0, 3, 1, 4)
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.5)


def masks(path):
    """Masks of all forms: of pairs, of pairs for each head, biases of keys, of pairs with pairs hidden."""
    torch.manual_seed(7)
    model = torch.nn.Module()
    model.blocks = torch.nn.ModuleList(Masked() for _ in range(4))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, 0, 0.35)
    n = 10
    near = (torch.arange(n)[:, None] - torch.arange(n)).abs() < 3
    by_head = torch.rand(4, n, n) < 0.5
    by_head |= torch.eye(n, dtype=torch.bool)
    of_keys = torch.randn(1, n)
    of_pairs = torch.randn(n, n).masked_fill(~near, float("-inf"))
    x = torch.randn(1, n, 32)
    model.forward = lambda: [block(x, mask) for block, mask in zip(model.blocks, (near, by_head, of_keys, of_pairs))]
    with fovea.record(path):
        model()


def qwen3_next(path):
    """A layer of Gated DeltaNet, whose value heads share key heads in pairs, and one of grouped softmax attention."""
    model = model_of(transformers.Qwen3NextModel, None, **SMALL, num_key_value_heads=2, head_dim=8,
                     layer_types=["linear_attention", "full_attention"], linear_num_key_heads=2,
                     linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=12, num_experts=2,
                     num_experts_per_tok=1, moe_intermediate_size=16, shared_expert_intermediate_size=16)
    ids = ids_of(20)
    with fovea.record(path, tokens=words(ids[0])):
        model(ids)


def kimi_linear(path):
    """A layer of KDA, whose channels have decays of their own, and one of latent attention."""
    model = model_of(transformers.KimiLinearModel, None, **SMALL, num_key_value_heads=4, pad_token_id=0,
                     layer_types=["linear_attention", "full_attention"], linear_num_heads=4, linear_head_dim=8,
                     kv_lora_rank=16, qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=12, num_local_experts=2,
                     num_experts_per_tok=1, moe_intermediate_size=16)
    ids = ids_of(20)
    with fovea.record(path, tokens=words(ids[0])):
        model(ids)


def mamba2(path):
    """Two layers of SSD, whose heads share queries and keys in groups of four."""
    model = model_of(transformers.Mamba2Model, None, vocab_size=40, hidden_size=32, num_hidden_layers=2, num_heads=8,
                     head_dim=8, state_size=12, n_groups=2, expand=2)
    ids = ids_of(20)
    with fovea.record(path, tokens=words(ids[0])):
        model(ids)


def deepseek_v4(path):
    """A window alone, beside entries of 4 tokens that an indexer chooses, and beside all entries of 8 tokens."""
    kinds = ["sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"]
    model = model_of(transformers.DeepseekV4Model, None, **{**SMALL, "num_hidden_layers": 3}, num_key_value_heads=1,
                     head_dim=8, moe_intermediate_size=16, q_lora_rank=16, qk_rope_head_dim=4, o_groups=2, o_lora_rank=8,
                     n_routed_experts=4, num_experts_per_tok=2, index_n_heads=2, index_head_dim=8, index_topk=2,
                     sliding_window=5, layer_types=kinds, compress_rates=dict(zip(kinds[1:], (4, 8))))
    for parameter in model.parameters():
        if parameter.ndim == 2:
            parameter.normal_(0, 0.35)
    ids = ids_of(27)
    with fovea.record(path, tokens=words(ids[0])):
        model(ids)


CAPTURES = (llama, mistral, gemma2, t5, bloom, gpt_oss, whisper_cross, bert_padded, vit, masks, qwen3_next, kimi_linear,
            mamba2, deepseek_v4)


def main():
    arguments = sys.argv[1:]
    folder = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent)
    for capture in CAPTURES:
        if len(arguments) < 2 or capture.__name__ in arguments[1:]:
            with torch.no_grad():
                capture(folder / f"{capture.__name__}.safetensors")


if __name__ == "__main__":
    main()
