"""Makes the fixtures of test_model: a tiny model with random weights for each row of
core/model/architectures.cpp, by transformers, and what it computes in float64.

    python tests/model/make_fixtures.py          # needs torch, transformers, safetensors, Pillow

Each folder of tests/model/fixtures/ is a model as people download one: config.json and
model.safetensors, or shards. expected.safetensors has its input and, in F64, Q, K, V and the hidden
states after each layer and the output. Its metadata has, by the name of the tensor, the error of
transformers itself in float32: |float32 - float64| / |float64|, Frobenius.
"""

import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
import transformers as t
from PIL import Image
from safetensors.torch import load_file, save_file

FOLDER = Path(__file__).parent / "fixtures"
in_float64 = False


def patch(module, name, change):
    """Some models compute parts in float32 whatever their type; here all is in float64."""
    original = getattr(module, name)

    def patched(*args, **kwargs):
        return change(original, *args, **kwargs) if in_float64 else original(*args, **kwargs)

    setattr(module, name, patched)


def interpolate(original, x, *args, **kwargs):
    return original(x.double(), *args, **kwargs)


def softmax(original, x, *args, dtype=None, **kwargs):
    return original(x, *args, **kwargs)


patch(torch.nn.functional, "interpolate", interpolate)
patch(torch.nn.functional, "softmax", softmax)




def randomise(model):
    """Weights for which heads differ and no layer is near the identity."""
    for name, p in model.named_parameters():
        with torch.no_grad():
            if re.search(r"norm\w*\.weight$|layrnorm\.weight$", name, re.I):
                p.copy_(1 + 0.3 * torch.randn_like(p))
            elif "lambda" in name:
                p.copy_(0.7 + 0.2 * torch.randn_like(p))
            elif p.dim() == 2 and "embedding" not in name:
                p.copy_(torch.randn_like(p) * 1.5 / p.shape[1] ** 0.5)
            else:
                p.copy_(0.5 * torch.randn_like(p))


def record(model, inputs):
    """Q, K, V and hidden states of every layer, and the output."""
    found, hooks = {}, []
    layers = next(m for m in model.modules() if isinstance(m, torch.nn.ModuleList))
    for i, layer in enumerate(layers):
        for name, module in layer.named_modules():
            last = name.split(".")[-1]
            if last in ("query", "q_lin", "q_proj", "key", "k_lin", "k_proj", "value", "v_lin", "v_proj"):
                hooks.append(module.register_forward_hook(
                    lambda _, __, out, key=f"{last[0]}.{i}": found.__setitem__(key, out[0])))
        hooks.append(layer.register_forward_hook(
            lambda _, __, out, key=f"hidden.{i}": found.__setitem__(key, (out[0] if isinstance(out, tuple) else out)[0])))
    with torch.no_grad():
        found["output"] = model(**inputs).last_hidden_state[0]
    for hook in hooks:
        hook.remove()
    return {name: value.clone().contiguous() for name, value in found.items()}


def to_blocks(weights, only):
    """8 bits in blocks of 32: returns the tensors, and replaces `weights` by what they stand for."""
    out = {}
    for name, w in list(weights.items()):
        if not only(name, w):
            out[name] = w
            continue
        blocks = w.reshape(w.shape[0], -1, 32)
        scale = (blocks.abs().amax(2, keepdim=True) / 127).half()
        entries = (blocks / scale.float()).round().clamp(-127, 127).to(torch.int8)
        weights[name] = (entries.float() * scale.float()).reshape(w.shape)
        out[name], out[name + ".scale"] = entries.reshape(w.shape), scale[:, :, 0].contiguous()
    return out


def fixture(name, model, inputs, whole=None, dtype=None, blocks=False, shards=1, old_names=False):
    """`whole`: the model that is saved, of which `model` is a part."""
    global in_float64
    torch.manual_seed(sum(name.encode()))
    whole = whole or model
    whole.eval()
    randomise(whole)
    if dtype:
        for p in whole.parameters():
            p.data = p.data.to(dtype).float()
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    whole.save_pretrained(folder)
    path = folder / "model.safetensors"
    weights = load_file(path)
    metadata = {"format": "pt"}
    if dtype:
        save_file({n: w.to(dtype) for n, w in weights.items()}, path, metadata)
    if blocks:
        stored = to_blocks(weights, lambda n, w: w.dim() == 2 and w.shape[1] % 32 == 0 and "position" not in n)
        whole.load_state_dict({n: weights.get(n, p) for n, p in whole.state_dict().items()})
        save_file(stored, path, metadata)
    if old_names:
        rename = lambda n: n.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        weights = {rename(n): w for n, w in weights.items()}
        save_file(weights, path, metadata)
    if shards > 1:
        path.unlink()
        index = {}
        for s in range(shards):
            file = f"model-{s + 1:05}-of-{shards:05}.safetensors"
            part = dict(list(sorted(weights.items()))[s::shards])
            save_file(part, folder / file, metadata)
            index |= {n: file for n in part}
        (folder / "model.safetensors.index.json").write_text(
            json.dumps({"metadata": {"total_size": sum(w.nbytes for w in weights.values())}, "weight_map": index}, indent=1) + "\n")
    plain = record(model, inputs)
    in_float64 = True
    whole.double()
    exact = record(model, {n: x.double() if n == "pixel_values" else x for n, x in inputs.items()})
    in_float64 = False
    errors = {n: float((plain[n].double() - x).norm() / x.norm()) for n, x in exact.items()}
    given = {"pixels": inputs["pixel_values"][0]} if "pixel_values" in inputs else {
        "ids": inputs["input_ids"][0].int()}
    if "token_type_ids" in inputs:
        given["types"] = inputs["token_type_ids"][0].int()
    save_file(given | exact, folder / "expected.safetensors", {n: f"{e:.3g}" for n, e in errors.items()})
    print(f"{name:24} {sum(f.stat().st_size for f in folder.iterdir()) / 1024:6.1f} KiB   float32 of transformers: "
          f"{max(errors.values()):.2g}")


def image_input(name, processor, height, width):
    """What Pillow makes of a picture, as the processor asks it to."""
    folder = FOLDER / "image_input" / name
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(len(name))
    smooth = Image.fromarray(random.integers(0, 256, (5, 4, 3), dtype=np.uint8)).resize((width, height), Image.BICUBIC)
    noise = random.integers(-60, 60, (height, width, 3))
    picture = np.clip(np.asarray(smooth).astype(int) + noise, 0, 255).astype(np.uint8)
    processor.save_pretrained(folder)
    pixels = processor(images=Image.fromarray(picture), return_tensors="pt")["pixel_values"][0]
    save_file({"picture": torch.from_numpy(picture), "pixels": pixels.contiguous()}, folder / "expected.safetensors")


def ids(words, count, **more):
    return {"input_ids": torch.randint(3, words, (1, count)), **more}


def pixels(height, width, **more):
    return {"pixel_values": torch.randn(1, 3, height, width), **more}


SIZES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24)
TEXT = dict(SIZES, vocab_size=40, max_position_embeddings=20)
IMAGE = dict(SIZES, image_size=16, patch_size=4)
DINO = {n: x for n, x in IMAGE.items() if n != "intermediate_size"}


def main():
    torch.set_num_threads(1)
    t.logging.set_verbosity_error()
    t.logging.disable_progress_bar()
    torch.manual_seed(0)
    FOLDER.mkdir(exist_ok=True)
    image_input("vit_smaller", t.ViTImageProcessorPil(size={"height": 12, "width": 20}), 43, 61)
    image_input("vit_larger", t.ViTImageProcessorPil(size={"height": 32, "width": 24}), 9, 17)
    image_input("clip_wide", t.CLIPImageProcessorPil(size={"shortest_edge": 18}, crop_size={"height": 16, "width": 16}), 31, 70)
    image_input("bit_tall", t.BitImageProcessorPil(size={"shortest_edge": 20}, crop_size={"height": 14, "width": 14}), 50, 11)
    image_input("deit", t.DeiTImageProcessorPil(size={"height": 20, "width": 20}, crop_size={"height": 15, "width": 13}), 40, 33)
    other = dict(interpolate_pos_encoding=True)
    fixture("bert", t.BertModel(t.BertConfig(**TEXT), add_pooling_layer=False),
            ids(40, 11, token_type_ids=torch.tensor([[0] * 6 + [1] * 5])), shards=2, old_names=True)
    masked = t.BertForMaskedLM(t.BertConfig(**dict(TEXT, hidden_size=32, intermediate_size=64)))
    fixture("bert_8_bits", masked.bert, ids(40, 11), whole=masked, blocks=True)
    fixture("distilbert", t.DistilBertModel(t.DistilBertConfig(
        dim=16, n_layers=2, n_heads=2, hidden_dim=24, vocab_size=40, max_position_embeddings=20, activation="relu")), ids(40, 20))
    padded = ids(40, 9)
    padded["input_ids"][0, 4] = 1  # the id of padding, in the middle
    fixture("roberta", t.RobertaModel(t.RobertaConfig(**TEXT), add_pooling_layer=False), padded, dtype=torch.bfloat16)
    fixture("xlm_roberta", t.XLMRobertaModel(t.XLMRobertaConfig(**dict(TEXT, hidden_act="silu", type_vocab_size=1)),
                                             add_pooling_layer=False), ids(40, 1))
    fixture("vit", t.ViTModel(t.ViTConfig(**IMAGE, qkv_bias=False), add_pooling_layer=False), pixels(16, 16), dtype=torch.float16)
    fixture("vit_other_size", t.ViTModel(t.ViTConfig(**dict(IMAGE, hidden_size=24, hidden_act="gelu_new")), add_pooling_layer=False),
            pixels(25, 13, **other))
    fixture("deit", t.DeiTModel(t.DeiTConfig(**IMAGE), add_pooling_layer=False), pixels(12, 24, **other))
    fixture("dinov2", t.Dinov2Model(t.Dinov2Config(**DINO, mlp_ratio=2)), pixels(23, 16))
    fixture("dinov2_swiglu", t.Dinov2Model(t.Dinov2Config(**DINO, mlp_ratio=2, use_swiglu_ffn=True)), pixels(16, 16))
    fixture("dinov2_with_registers", t.Dinov2WithRegistersModel(t.Dinov2WithRegistersConfig(**DINO, mlp_ratio=2, num_register_tokens=3)),
            pixels(8, 28))
    fixture("clip_vision", t.CLIPVisionModel(t.CLIPVisionConfig(**IMAGE)), pixels(16, 16))
    both = t.CLIPModel(t.CLIPConfig(projection_dim=8, vision_config=IMAGE, text_config=dict(TEXT, bos_token_id=0, eos_token_id=2)))
    fixture("clip", both.vision_model, pixels(20, 12, **other), whole=both)
    fixture("siglip_vision", t.SiglipVisionModel(t.SiglipVisionConfig(**IMAGE, vision_use_head=False)), pixels(16, 16))
    both = t.SiglipModel(t.SiglipConfig(vision_config=IMAGE, text_config=dict(TEXT, bos_token_id=0, eos_token_id=2)))
    fixture("siglip", both.vision_model, pixels(12, 20, **other), whole=both)
    odd = dict(hidden_size=30, num_attention_heads=3, intermediate_size=42)  # rows that are padded
    fixture("bert_width_30", t.BertModel(t.BertConfig(**TEXT | odd), add_pooling_layer=False), ids(40, 13))
    fixture("vit_width_30", t.ViTModel(t.ViTConfig(**IMAGE | odd), add_pooling_layer=False), pixels(16, 16))


if __name__ == "__main__":
    main()
