"""Runs a model on a text or a picture, and keeps the attention of all its layers."""
from __future__ import annotations

import contextlib
import inspect
import json
import sys
import threading
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from .errors import FoveaError, need
from .names import model_name
from .recording import Part, Recording
from .writer import TensorMemory

MOST_TOKENS = 2048  # of a text, unless a request says otherwise
MOST_PREFIX = 32  # tokens before the patches of an image: class and register tokens
LETTERS_A_TOKEN = 64  # a longer beginning of a text is not given to the tokenizer
MOST_WRITTEN = 32  # tokens that a model with a decoder writes, unless a text for the decoder is given
SOUNDS = ("input_features", "input_values")  # what models of sounds call their input
OTHER_TEXT = "The field Decoder, or --decoder-text, gives it another text"


class Request(NamedTuple):
    """What a model is asked to read."""

    text: Optional[str] = None
    picture: Any = None  # [height, width, 3] of uint8
    max_tokens: int = MOST_TOKENS
    decoder_text: Optional[str] = None  # for the decoder of a model that has both; else the model writes it
    layers: Optional[List[int]] = None  # all
    heads: Optional[List[int]] = None
    reached: Callable[[float], None] = lambda share: None  # may raise, which ends the forward pass
    give: Optional[Callable[[Part], None]] = None  # takes layers as they come, which the answer then lacks


class Heads(NamedTuple):
    """The heads of a model, as a file of `record` has them. The metadata is that of all, given in parts or not."""

    arrays: Dict[str, Any]
    metadata: Dict[str, str]
    notes: List[str]
    same: Dict[str, str] = {}  # as in a Part, if the request takes parts


class ReadingModel:
    """A model of PyTorch with what turns a text or a picture into its input. The model is used as it is."""

    def __init__(self, model: Any, tokenizer: Any = None, processor: Any = None, name: str = "") -> None:
        need("torch", "Running a model")
        if tokenizer is None and processor is None:
            raise FoveaError("neither a tokenizer nor a processor was given; expected the one that makes the model's "
                             "input of a text or a picture")
        self.model = getattr(model, "_orig_mod", model)  # of a compiled one
        self.name = name or model_name(self.model)
        if getattr(self.model, "main_input_name", "") in SOUNDS:
            raise FoveaError(f"{self.name} is a model of sounds, which Fovea cannot give to it. Run it on a sound in "
                             "Python with fovea.record(\"run.safetensors\") around the call, and open that file")
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

    def expected_layers(self, request: Request) -> Optional[int]:
        """How many layers of attention the answer to a request will have, if that is known."""
        if request.layers is not None:
            return len(request.layers)
        config = getattr(self.model, "config", None) if request.picture is not None else self._text_config()
        count = getattr(getattr(config, "vision_config", None) or config, "num_hidden_layers", None)
        return count if isinstance(count, int) and not self._has_decoder() else None

    def heads(self, request: Request) -> Heads:
        """Raises FoveaError for what the model cannot read, or has no attention that is seen."""
        if request.decoder_text is not None and (not self._has_decoder() or self.tokenizer is None):
            raise FoveaError(f"{self.name} has no decoder beside an encoder; expected one text (no --decoder-text)")
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
        if self._has_decoder():
            return self._heads_of_both(inputs, [self.tokenizer.convert_ids_to_tokens(ids)], request, notes)
        if _has_both(model):
            model = model.text_model
        else:
            model = getattr(model, "base_model", model)  # without a head, which has no attention
        return self._run(model, inputs, [self.tokenizer.convert_ids_to_tokens(ids)], request, notes)

    def _heads_of_both(self, inputs: Dict[str, Any], tokens: Optional[List[List[str]]], request: Request,
                       notes: List[str]) -> Heads:
        """Of a model with an encoder and a decoder, as if the decoder had written its input token by token.

        Layers are known in the order of their names only at the end, as those of the decoder take turns.
        """
        torch = need("torch", "Running a model")
        with torch.no_grad(), watched(self.model, lambda share: request.reached(0.0)):
            read = self._decoder_input(inputs, request, notes)
        labels = [self.tokenizer.convert_ids_to_tokens(read[0].tolist())]
        inputs = {**inputs, "decoder_input_ids": read}
        if "use_cache" in inspect.signature(self.model.forward).parameters:
            inputs["use_cache"] = False
        return self._run(self.model, inputs, labels, request, notes, tokens, at_once=True)

    def _decoder_input(self, inputs: Dict[str, Any], request: Request, notes: List[str]) -> Any:
        """The ids that the decoder reads, [1, tokens]. Says in the notes what they are."""
        torch = need("torch", "Running a model")
        limit = min(request.max_tokens, self._positions() or request.max_tokens)
        if request.decoder_text is not None:
            given = self.tokenizer(text_target=request.decoder_text, return_tensors="pt")["input_ids"]
            given = self._without_end(given)
            if given.shape[-1] >= limit:
                notes.append(f"the decoder reads the first {limit - 1} tokens of its text, which has {given.shape[-1]}")
            return self._behind_start(given[:, : limit - 1])
        most = max(1, min(MOST_WRITTEN, limit - 1))
        try:
            if not getattr(self.model, "can_generate", lambda: False)():
                raise FoveaError("it has no head that writes")
            written = self.model.generate(**inputs, max_new_tokens=most, do_sample=False, num_beams=1)
        except Exception as error:
            if "input_ids" not in inputs:
                raise
            words = str(error).splitlines()[:1]
            why = ": ".join(words if isinstance(error, FoveaError) else [type(error).__name__, *words])
            notes.append(f"the decoder reads the same text, as the model cannot write one ({why}). {OTHER_TEXT}")
            return self._behind_start(self._without_end(inputs["input_ids"])[:, : limit - 1])
        text = self.tokenizer.decode(written[0], skip_special_tokens=True).strip()
        read = self._without_end(written) if written.shape[-1] > 1 else written  # nothing follows the last token
        # Some models end a text that is cut off, too.
        ended = read.shape[-1] < written.shape[-1] <= most
        notes.append(f'the decoder reads what the model writes, "{text}" '
                     f'({"all of it" if ended else f"its first {read.shape[-1] - 1} tokens"}; the likeliest token each '
                     f"time). {OTHER_TEXT}")
        return read

    def _without_end(self, ids: Any) -> Any:
        """The ids without the token that ends a text."""
        return ids[:, :-1] if ids.shape[-1] > 0 and int(ids[0, -1]) in self._ends() else ids

    def _behind_start(self, ids: Any) -> Any:
        """The ids behind the one with which the decoder begins."""
        torch = need("torch", "Running a model")
        configs = [getattr(self.model, "generation_config", None), self.model.config, self._text_config()]
        starts = [getattr(config, name, None) for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id")
                  for config in configs]
        start = next((one for one in starts if isinstance(one, int)), 0)
        return torch.cat([torch.full((1, 1), start, dtype=ids.dtype), ids.cpu()], dim=1).to(self._device())

    def _ends(self) -> List[int]:
        """The tokens that end a text."""
        configs = (self.model.config, getattr(self.model, "generation_config", None))
        given = [getattr(config, "eos_token_id", None) for config in configs]
        return [end for ends in given for end in (ends if isinstance(ends, list) else [ends])]

    def _has_decoder(self) -> bool:
        return bool(getattr(getattr(self.model, "config", None), "is_encoder_decoder", False))

    def _heads_of_picture(self, request: Request) -> Heads:
        if self.images is None:
            raise FoveaError(f"{self.name} is a model of texts; expected a text")
        image = need("PIL.Image", "Reading a picture").fromarray(request.picture)
        inputs = self._on_device(dict(self.images(images=image, return_tensors="pt")))
        pixels = inputs.get("pixel_values")
        plain = getattr(pixels, "ndim", 0) == 4 and pixels.shape[1] == 3
        if self._has_decoder() and self.tokenizer is not None:
            both = self._heads_of_both(inputs, None, request, [])
            seen = self._seen(pixels[0]) if plain else request.picture
            return both._replace(arrays={**both.arrays, "picture": seen})
        model = self.model.vision_model if _has_both(self.model) else getattr(self.model, "base_model", self.model)
        lengths: Set[int] = set()

        def of_picture(arrays: Dict[str, Any]) -> Dict[str, str]:
            lengths.update(array.shape[1] for name, array in arrays.items() if name.endswith((".k", ".attention")))
            grid = self._grid(pixels, lengths) if plain else None
            return {"image": json.dumps(grid)} if grid else {}

        give = request.give
        first = {"picture": self._seen(pixels[0]) if plain else request.picture}  # goes with the first layer

        def give_with_picture(part: Part) -> None:
            assert give is not None
            metadata = {**part.metadata, **of_picture(part.arrays)}
            give(part._replace(arrays={**part.arrays, **first}, metadata=metadata))
            first.clear()

        # The layers of a decoder take turns, and are known in the order of their names only at the end.
        heads = self._run(model, inputs, None, request._replace(give=give and give_with_picture), [],
                          at_once=self._has_decoder())
        return heads._replace(arrays={**heads.arrays, **first}, metadata={**heads.metadata, **of_picture(heads.arrays)})

    def _run(self, model: Any, inputs: Dict[str, Any], tokens: Optional[List[List[str]]], request: Request,
             notes: List[str], key_tokens: Optional[List[List[str]]] = None, at_once: bool = False) -> Heads:
        torch = need("torch", "Running a model")
        memory = TensorMemory()
        recording = Recording("", request.layers, request.heads, None, tokens, key_tokens, False, model, memory,
                              notes.append, request.give is not None)

        def reached(share: float) -> None:
            request.reached(share)
            part = None if request.give is None or at_once else recording.part()
            if part is not None and request.give is not None:
                named = {**part.metadata, "model": self.name} if "layout" in part.metadata else part.metadata
                request.give(part._replace(metadata=named))

        with recording, torch.no_grad(), watched(model, reached):
            model(**inputs)
        return Heads(memory.arrays, {**memory.metadata, "model": self.name}, notes, recording.same)

    def _on_device(self, inputs: Dict[str, Any]) -> Dict[str, Any]:
        device = self._device()
        return {name: value.to(device) if hasattr(value, "to") else value for name, value in inputs.items()}

    def _grid(self, pixels: Any, lengths: Set[int]) -> Optional[Dict[str, Any]]:
        config = getattr(self.model, "config", None)
        config = getattr(config, "vision_config", None) or config
        patch = getattr(config, "patch_size", None)
        if not isinstance(patch, int):
            return None
        rows, columns = int(pixels.shape[2]) // patch, int(pixels.shape[3]) // patch
        before = min(lengths) - rows * columns if len(lengths) == 1 else -1
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
