"""Runs a model on a text or a picture, and keeps the attention of all its layers."""
from __future__ import annotations

import contextlib
import json
import sys
import threading
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from .errors import FoveaError, need
from .names import model_name
from .recording import Recording
from .writer import TensorMemory

MOST_TOKENS = 2048  # of a text, unless a request says otherwise
MOST_PREFIX = 32  # tokens before the patches of an image: class and register tokens
LETTERS_A_TOKEN = 64  # a longer beginning of a text is not given to the tokenizer


class Request(NamedTuple):
    """What a model is asked to read."""

    text: Optional[str] = None
    picture: Any = None  # [height, width, 3] of uint8
    max_tokens: int = MOST_TOKENS
    layers: Optional[List[int]] = None  # all
    heads: Optional[List[int]] = None
    reached: Callable[[float], None] = lambda share: None  # may raise, which ends the forward pass


class Heads(NamedTuple):
    """The heads of a model, as a file of `record` has them."""

    arrays: Dict[str, Any]
    metadata: Dict[str, str]
    notes: List[str]


class ReadingModel:
    """A model of PyTorch with what turns a text or a picture into its input. The model is used as it is."""

    def __init__(self, model: Any, tokenizer: Any = None, processor: Any = None, name: str = "") -> None:
        need("torch", "Running a model")
        if tokenizer is None and processor is None:
            raise FoveaError("neither a tokenizer nor a processor was given; expected the one that makes the model's "
                             "input of a text or a picture")
        self.model = getattr(model, "_orig_mod", model)  # of a compiled one
        self.name = name or model_name(self.model)
        self.tokenizer = tokenizer if tokenizer is not None else getattr(processor, "tokenizer", None)
        self.images = getattr(processor, "image_processor", processor)

    def description(self) -> Dict[str, Any]:
        config = self._text_config()
        return {
            "name": self.name,
            "architecture": type(self.model).__name__,
            "reads": [kind for kind, reader in (("text", self.tokenizer), ("image", self.images))
                      if reader is not None],
            "layers": getattr(config, "num_hidden_layers", None),
            "heads": getattr(config, "num_attention_heads", None),
            "most_tokens": self._positions(),
            "computed_by": self._computed_by(),
        }

    def heads(self, request: Request) -> Heads:
        """Raises FoveaError for what the model cannot read, or has no attention that is seen."""
        if request.picture is not None:
            return self._heads_of_picture(request)
        return self._heads_of_text(request)

    def inputs_of(self, request: Request, notes: Optional[List[str]] = None) -> Tuple[Dict[str, Any], List[int]]:
        """What goes into the model for a text, and the ids of the tokens. Adds to `notes` what is cut off."""
        if self.tokenizer is None:
            raise FoveaError(f"{self.name} is a model of images; expected an image")
        limit = min(request.max_tokens, self._positions() or request.max_tokens)
        whole = request.text or ""
        text = whole[: LETTERS_A_TOKEN * limit]
        with_offsets = {"return_offsets_mapping": True} if getattr(self.tokenizer, "is_fast", False) else {}
        inputs = self.tokenizer(text, truncation=True, max_length=limit, return_tensors="pt", **with_offsets)
        offsets = inputs.pop("offset_mapping", None)
        ids = inputs["input_ids"]
        if ids.shape[-1] == 0 or not text.strip():
            raise FoveaError("the text has no token; expected at least one word")
        end = None if offsets is None else int(offsets[..., 1].max())  # of the last token, in the text
        if notes is not None and end is not None and whole[end:].strip():
            why = f"the limit is {limit} tokens" if limit == request.max_tokens else f"it has {limit} positions"
            notes.append(f"the model reads the first {ids.shape[-1]} tokens: {len(whole) - end} characters of the text "
                         f"are left out ({why})")
        return self._on_device(dict(inputs)), ids[0].tolist()

    def _heads_of_text(self, request: Request) -> Heads:
        notes: List[str] = []
        inputs, ids = self.inputs_of(request, notes)
        model = self.model
        if getattr(getattr(model, "config", None), "is_encoder_decoder", False):
            model = model.get_encoder()
            notes.append("the encoder alone reads the text; fovea.record has the decoder, too")
        elif _has_both(model):
            model = model.text_model
        else:
            model = getattr(model, "base_model", model)  # without a head, which has no attention
        return self._run(model, inputs, [self.tokenizer.convert_ids_to_tokens(ids)], request, notes)

    def _heads_of_picture(self, request: Request) -> Heads:
        if self.images is None:
            raise FoveaError(f"{self.name} is a model of texts; expected a text")
        image = need("PIL.Image", "Reading a picture").fromarray(request.picture)
        inputs = self._on_device(dict(self.images(images=image, return_tensors="pt")))
        model = self.model.vision_model if _has_both(self.model) else getattr(self.model, "base_model", self.model)
        heads = self._run(model, inputs, None, request, [])
        pixels = inputs.get("pixel_values")
        if getattr(pixels, "ndim", 0) != 4 or pixels.shape[1] != 3:
            return heads._replace(arrays={**heads.arrays, "picture": request.picture})
        grid = self._grid(pixels, heads.arrays)
        return heads._replace(arrays={**heads.arrays, "picture": self._seen(pixels[0])},
                              metadata={**heads.metadata, **({"image": json.dumps(grid)} if grid else {})})

    def _run(self, model: Any, inputs: Dict[str, Any], tokens: Optional[List[List[str]]], request: Request,
             notes: List[str]) -> Heads:
        torch = need("torch", "Running a model")
        memory = TensorMemory()
        recording = Recording("", request.layers, request.heads, None, tokens, None, False, model, memory, notes.append)
        with recording, torch.no_grad(), watched(model, request.reached):
            model(**inputs)
        return Heads(memory.arrays, {**memory.metadata, "model": self.name}, notes)

    def _on_device(self, inputs: Dict[str, Any]) -> Dict[str, Any]:
        device = self._device()
        return {name: value.to(device) if hasattr(value, "to") else value for name, value in inputs.items()}

    def _grid(self, pixels: Any, arrays: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        config = getattr(self.model, "config", None)
        config = getattr(config, "vision_config", None) or config
        patch = getattr(config, "patch_size", None)
        if not isinstance(patch, int):
            return None
        rows, columns = int(pixels.shape[2]) // patch, int(pixels.shape[3]) // patch
        lengths = {array.shape[1] for name, array in arrays.items() if name.endswith((".k", ".attention"))}
        before = lengths.pop() - rows * columns if len(lengths) == 1 else -1
        return {"grid": [rows, columns], "prefix": before} if 0 <= before <= MOST_PREFIX else None

    def _seen(self, pixels: Any) -> Any:
        """The picture as the model sees it, [height, width, 3] of uint8."""
        numpy = need("numpy", "Reading a picture")
        mean, deviation = 0.0, 1.0
        if getattr(self.images, "do_normalize", True):
            given = (getattr(self.images, name, None) for name in ("image_mean", "image_std"))
            mean, deviation = (numpy.asarray(default if own is None else own, dtype=numpy.float32)
                               for own, default in zip(given, (0.0, 1.0)))
        colours = pixels.permute(1, 2, 0).float().cpu().numpy() * deviation + mean
        return numpy.clip(255 * colours + 0.5, 0, 255).astype(numpy.uint8)

    def _computed_by(self) -> str:
        parts = [f"{name} {sys.modules[name].__version__}" for name in ("transformers", "torch") if name in sys.modules]
        return ", ".join([*parts, str(self._device())])

    def _text_config(self) -> Any:
        config = getattr(self.model, "config", None)
        return config.get_text_config() if hasattr(config, "get_text_config") else config

    def _positions(self) -> Optional[int]:
        counts = [getattr(self._text_config(), "max_position_embeddings", None)]
        counts.append(getattr(self.tokenizer, "model_max_length", None))
        known = [count for count in counts if isinstance(count, int) and 0 < count < 1 << 30]
        return min(known) if known else None

    def _device(self) -> Any:
        parameter = next(iter(self.model.parameters()), None) if hasattr(self.model, "parameters") else None
        return "cpu" if parameter is None else parameter.device


def _has_both(model: Any) -> bool:
    """Whether this is a model of texts and of images, as CLIP: each half is one."""
    return hasattr(model, "text_model") and hasattr(model, "vision_model")


@contextlib.contextmanager
def watched(model: Any, reached: Callable[[float], None]) -> Iterator[None]:
    """Calls `reached` before each module runs in this thread, with the share of modules that ran."""
    modules = list(model.modules()) if hasattr(model, "modules") else []
    thread = threading.get_ident()  # the model may run in others, too
    ran = 0

    def before(*_: Any) -> None:
        nonlocal ran
        if threading.get_ident() != thread:
            return
        ran += 1
        reached(min(1.0, ran / len(modules)))

    hooks = [module.register_forward_pre_hook(before) for module in modules]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
