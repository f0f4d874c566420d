"""Names of calls in a file: layer3, cross.layer3, blocks.3.attn; and of models."""
from __future__ import annotations

import os
import re
from typing import Any, List, NamedTuple, Optional

CROSS = re.compile(r"cross|encdec|enc_dec|encoder_attn|enc_attn|encoder_attention", re.IGNORECASE)
NOT_OF_TEXT = re.compile(r"vision|visual|image|audio|speech|pixel|patch", re.IGNORECASE)


class Place(NamedTuple):
    """Where in a model an attention is."""

    name: str  # of its calls
    layer: Optional[int]
    role: str  # "encoder", "decoder", "cross", or "" in models with one stack


def place_of(path: str, module: Any, running: List[Any], config: Any, towers: List[str]) -> Place:
    """The place of an attention module in a model of transformers.

    `path` is that of the module in the model, `running` are the modules around it, `config` that of the model.
    `towers` are the paths before the layers' numbers: where a model without decoder has several, such as for text
    and for images, they are part of the name.
    """
    layer = layer_of(path)
    layer = getattr(module, "layer_idx", None) if layer is None else layer
    if layer is None:
        return Place(path or type(module).__name__, None, "")
    if getattr(config, "is_encoder_decoder", False):
        role = _role(path, module, running)
        return Place(f"{role}.layer{layer}", layer, role)
    tower = tower_of(path)
    role = "cross" if is_cross(path, module) else ""
    words = [role] if role else []
    if len(towers) > 1 and tower:
        words.insert(0, tower)
    return Place(".".join([*words, f"layer{layer}"]), layer, role)


def layer_of(path: str) -> Optional[int]:
    """The first number after a word, as in 0.blocks.3.attn: one in front is a place in a pipeline. Else the first."""
    found = re.search(r"(?:^|\.)[^.\d][^.]*\.(\d+)(?=\.|$)", path) or re.search(r"(?:^|\.)(\d+)(?=\.|$)", path)
    return int(found.group(1)) if found else None


def tower_of(path: str) -> str:
    """What comes before the layers and their numbers: text_model.encoder of text_model.encoder.layers.0.attn."""
    found = re.match(r"^(.*?)\.?(?:^|(?<=\.))\d+(?:\.|$)", path)
    before = found.group(1).rstrip(".") if found else ""
    return re.sub(r"(^|\.)(layers?|blocks?|resblocks|h)$", "", before)


def is_cross(path: str, module: Any) -> bool:
    return bool(getattr(module, "is_cross_attention", False) or CROSS.search(".".join(path.split(".")[-2:])))


def is_mixer(module: Any) -> bool:
    """Whether a module is a Gated DeltaNet or a mixer of Mamba-2, which have a decay for each head."""
    return getattr(getattr(module, "A_log", None), "ndim", 0) == 1


def model_name(model: Any) -> str:
    """The name of a model without the folders of this machine: org/name, the last folder, or its class."""
    name = str(getattr(getattr(model, "config", None), "_name_or_path", "") or "")
    cached = re.search(r"models--([^/\\]+?)--([^/\\]+)", name)
    if cached:
        return "/".join(cached.groups())
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name) or name.startswith(".") or os.path.exists(name):
        name = re.split(r"[/\\]", name.rstrip("/\\"))[-1]
    return name or type(model).__name__


def _role(path: str, module: Any, running: List[Any]) -> str:
    if is_cross(path, module):
        return "cross"
    for part in path.split("."):
        if part in ("encoder", "decoder"):
            return part
    for outer in running:
        name = type(outer).__name__.lower()
        if name.endswith(("encoder", "encodermodel")):
            return "encoder"
        if name.endswith(("decoder", "decodermodel")):
            return "decoder"
    return "decoder" if getattr(module, "is_decoder", False) else "encoder"
