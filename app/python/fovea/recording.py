"""Records the attention of whatever model runs in a block."""
from __future__ import annotations

import contextlib
import os
import warnings
from typing import Any, Dict, Iterable, List, Optional, Sequence, Set, Union

from . import bloom
from .call import Call, shared_metadata
from .check import difference
from .conditions import Conditions, recognised
from .errors import FoveaError, FoveaWarning, need
from .labels import TokenLabels
from .modules import ModuleStack
from .names import Place
from .places import Places
from .registry import Registry
from .sdpa import Observer, make_mode
from .unseen import Unseen
from .writer import TensorWriter


def record(path: "str | os.PathLike[str]", model: Any = None, *, layers: Optional[Iterable[Union[int, str]]] = None,
           heads: Optional[Iterable[int]] = None, tokens: Optional[Sequence] = None,
           key_tokens: Optional[Sequence] = None, outputs: bool = True) -> "Recording":
    """Records every attention call of the block to a .safetensors file that Fovea opens.

        with fovea.record("run.safetensors", tokens=tokenizer.convert_ids_to_tokens(ids[0])):
            model(ids)

    Models of transformers are seen in the function that computes their attention, all others in
    torch.nn.functional.scaled_dot_product_attention. `model` is not needed: it only gives the paths of modules
    their names before the first call. `layers` are numbers, or names such as "decoder.layer3" or "blocks.3.attn";
    `heads` are numbers of query heads. `tokens` is a list of strings, or one list for each member of a batch; in
    encoder-decoder models `key_tokens` are those of the encoder. With `outputs` the model's own output of every
    head is kept, and compared with what was recorded.

    The file appears when the block ends; if it ends with an exception, nothing is replaced. Raises FoveaError if
    nothing was recorded, and says what to do; warns with FoveaWarning of anything that is left out.
    """
    return Recording(path, model, layers, heads, tokens, key_tokens, outputs)


class Recording(Observer):
    """A recording that runs. `calls` names the calls in the file."""

    def __init__(self, path: "str | os.PathLike[str]", model: Any, layers: Optional[Iterable[Union[int, str]]],
                 heads: Optional[Iterable[int]], tokens: Optional[Sequence], key_tokens: Optional[Sequence],
                 outputs: bool) -> None:
        self.path = os.fspath(path)
        self.calls: List[str] = []
        self._model = model
        self._layers = None if layers is None else set([layers] if isinstance(layers, (int, str)) else layers)
        self._heads = None if heads is None else [heads] if isinstance(heads, int) else list(heads)
        self._outputs = outputs
        self._labels = TokenLabels(tokens, key_tokens)
        self._metadata: Dict[str, Dict[str, str]] = {}
        self._steps: Dict[str, int] = {}
        self._left_out: Set[str] = set()
        self._roots: List[str] = []
        self._hooks: List[Any] = []
        self._inside = 0
        self._unseen = Unseen()
        self._stack = ModuleStack(self._new_root)
        self._places = Places(self._stack)
        self._registry = Registry(self._registry_call)
        self._mode: Any = None
        self._eager = contextlib.ExitStack()
        self._file: Optional[TensorWriter] = None

    # The block.

    def __enter__(self) -> "Recording":
        need("torch", "Recording a model")
        need("numpy", "Recording a model")
        if self._file is not None:
            raise FoveaError("a recording is for one block: call fovea.record again")
        self._mode = make_mode(self)
        self._file = TensorWriter(self.path)
        try:
            self._run_compiled_models_eagerly()
            self._registry.start()
            if self._model is not None:
                self._stack.know(getattr(self._model, "_orig_mod", self._model))
            self._stack.start()
            self._mode.__enter__()
        except BaseException:
            self._stop()
            self._file.discard()
            raise
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        assert self._file is not None
        self._mode.__exit__(kind, value, trace)
        self._stop()
        if kind is not None or not self.calls:
            self._file.discard()
            if kind is None:
                raise FoveaError(self._why_nothing())
            return
        try:
            self._file.finish(shared_metadata(self._metadata))
        except BaseException:
            self._file.discard()
            raise
        if self._unseen.advice():
            _warn("Left out: " + self._unseen.advice())
        misfit = self._labels.misfit()
        if misfit:
            _warn(misfit)

    def _run_compiled_models_eagerly(self) -> None:
        """Where PyTorch can: what was compiled could not be watched."""
        compiler = need("torch.compiler", "Recording a model")
        if hasattr(compiler, "set_stance"):
            self._eager.enter_context(compiler.set_stance("force_eager"))

    def _stop(self) -> None:
        self._eager.close()
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self._registry.stop()
        self._stack.stop()

    def _why_nothing(self) -> str:
        if self._left_out:
            seen = sorted(self._left_out)
            return ("Nothing was recorded: none of the attentions is in `layers`. Seen were " +
                    ", ".join(seen[:8]) + (", ..." if len(seen) > 8 else ""))
        if self._unseen.advice():
            return "Nothing was recorded: " + self._unseen.advice()
        if not self._roots:
            return ("Nothing was recorded: no module of PyTorch was called, and no attention was computed. Call the "
                    "model inside the with block.")
        return (f"Nothing was recorded: no attention was seen in {', '.join(self._roots)}. If it is compiled, run it "
                "without torch.compile; if it has kernels of its own, load it with attn_implementation=\"sdpa\"; "
                "or give q, k and v to fovea.save.")

    def _new_root(self, root: Any) -> None:
        self._roots.append(type(root).__name__)
        self._places.know(root)
        self._registry.know(root)
        for module in root.modules():
            if bloom.is_bloom(module):
                self._hooks += bloom.attach(module, self._bloom_call)

    # What the routes see.

    def _registry_call(self, function: Any, kind: str, args: Any, kwargs: Dict[str, Any]) -> Any:
        torch = need("torch", "Recording a model")
        if torch.compiler.is_compiling():
            return function(*args, **kwargs)
        self._inside += 1
        try:
            result = function(*args, **kwargs)
        finally:
            self._inside -= 1
        if not self._inside:
            names = ("module", "query", "key", "value", "attention_mask")
            given = {**dict(zip(names, args)), **kwargs}
            self._transformers_call(kind, given, result[0])
        return result

    def _transformers_call(self, kind: str, given: Dict[str, Any], z: Any) -> None:
        module, q, k, v = (given[name] for name in ("module", "query", "key", "value"))
        mask, bias = given.get("attention_mask"), given.get("position_bias")
        if q.ndim != 4:
            raise FoveaError(f"{type(module).__name__} has queries of the shape {list(q.shape)}; expected "
                             "[B, H, n, d]")
        place = self._places.of(module)
        queries, keys = int(q.shape[2]), int(k.shape[2])
        is_causal = given.get("is_causal")
        is_causal = getattr(module, "is_causal", kind == "sdpa") if is_causal is None else is_causal
        c = Conditions(scale=given.get("scaling"))
        if kind == "sdpa":
            if mask is None:
                c.causal = bool(is_causal) and queries > 1
            if c.causal and keys > queries:  # a cache with free places: causal from the first key on
                k, v = k[:, :, :queries], v[:, :, :queries]
                bias = None if bias is None else bias[..., :queries]
        else:
            if mask is None:
                c.causal = False
            c.softcap = given.get("softcap")
            sinks = given.get("s_aux")
            c.sinks = None if sinks is None else sinks.detach().float().reshape(-1).cpu().numpy()
        z = z.reshape(q.shape[0], queries, q.shape[1], v.shape[-1]).transpose(1, 2)
        self._batch(place, module, q, k, v, z, c, mask, bias, ends_causal=bool(is_causal) and place.role != "cross",
                    dropout=float(given.get("dropout") or 0.0), short_logits=kind != "sdpa")

    def _bloom_call(self, module: Any, q: Any, k: Any, v: Any, mask: Any, alibi: Any, scale: float, z: Any) -> None:
        dropout = module.attention_dropout.p if module.training else 0.0
        c = Conditions(scale=scale, causal=False if mask is None else None)
        self._batch(self._places.of(module), module, q, k, v, z.transpose(1, 2), c, mask, alibi, ends_causal=True,
                    dropout=dropout)

    def attention(self, q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: Optional[float], dropout: float,
                  z: Any) -> None:
        torch = need("torch", "Recording a model")
        if self._inside or torch.compiler.is_compiling():
            return
        module = self._stack.innermost
        outer = torch.broadcast_shapes(q.shape[:-3], k.shape[:-3], v.shape[:-3])

        def four(array: Any) -> Any:  # [..., H, n, d] as [B, H, n, d]
            while array.ndim < 3:
                array = array[None]
            return array.expand(*outer, *array.shape[-3:]).reshape(-1, *array.shape[-3:])

        queries, keys = int(q.shape[-2]), int(k.shape[-2])
        if mask is not None and mask.ndim > 3:
            mask = four(mask)
        c = Conditions(scale=scale, causal=None if mask is not None else causal and queries == keys)
        if causal and queries != keys:  # PyTorch lets query i see the first i + 1 keys
            mask = torch.ones(queries, keys, dtype=torch.bool).tril()
            c.causal = None
        self._batch(self._places.of(module), module, four(q), four(k), four(v), four(z), c, mask, None, False, dropout,
                    short_logits=False)

    def softmax(self, weights: Any) -> None:
        module = self._stack.innermost
        if not self._inside and not bloom.is_bloom(module):
            self._unseen.softmax(weights, module, self._stack.path(module))

    def weights_asked(self) -> None:
        self._unseen.weights_asked(self._stack.path(self._stack.innermost))

    # What becomes of it.

    def _wanted(self, place: Place, module: Any) -> bool:
        if self._layers is None or self._layers & {place.layer, place.name, self._stack.path(module)}:
            return True
        self._left_out.add(place.name)
        return False

    def _batch(self, place: Place, module: Any, q: Any, k: Any, v: Any, z: Any, conditions: Conditions, mask: Any,
               bias: Any, ends_causal: bool, dropout: float, short_logits: bool = True) -> None:
        """Writes a call: q [B, H, nq, d], k and v [B, Hkv, nk, .], z [B, H, nq, dv]; mask and bias up to 4 axes."""
        self._unseen.recorded(module)
        if not self._wanted(place, module):
            return
        heads, queries = int(q.shape[1]), int(q.shape[2])
        chosen = self._chosen_heads(place, heads)
        if conditions.scale is None:
            conditions.scale = float(q.shape[3]) ** -0.5
        if dropout > 0:
            _warn(f"{place.name}: the model drops weights at random, so its output is not kept: call model.eval()")
        step = self._steps.get(place.name, 0)
        self._steps[place.name] = step + 1
        total = self._labels.count(place.name, queries)
        if ends_causal and total < k.shape[2] and _hides(mask, total):
            # A cache with free places, which no query sees.
            k, v, mask = k[:, :, :total], v[:, :, :total], mask[..., :total]
            bias = bias if bias is None or bias.shape[-1] == 1 else bias[..., :total]
        keys = int(k.shape[2])
        for b in range(int(q.shape[0])):
            c = recognised(conditions, queries, keys, heads, _member(mask, b), _member(bias, b), ends_causal)
            c.causal = bool(c.causal)
            labels = self._labels.of(place.name, place.role, b, total, queries, keys)
            call = Call(q[b].detach(), _member(k, b).detach(), _member(v, b).detach(),
                        z[b].detach() if self._outputs and not dropout else None, c, *labels,
                        model=self._model_name(), module=self._stack.path(module) or None)
            call = call.of_heads(chosen) if chosen is not None else call
            parts = [place.name] + [f"step{step}"] * (step > 0) + [f"batch{b}"] * (int(q.shape[0]) > 1)
            self._write(".".join(parts), call)
            wrong = difference(call, short_logits=short_logits) if step == 0 else None
            if wrong:
                _warn(f"{'.'.join(parts)}: {wrong}")

    def _write(self, prefix: str, call: Call) -> None:
        assert self._file is not None
        self._metadata[prefix] = call.write(self._file, prefix)
        self.calls.append(prefix)

    def _chosen_heads(self, place: Place, heads: int) -> Optional[List[int]]:
        if self._heads is None:
            return None
        for head in self._heads:
            if not 0 <= head < heads:
                raise FoveaError(f"heads has {head}; {place.name} has the heads 0 to {heads - 1}")
        return self._heads

    def _model_name(self) -> Optional[str]:
        root = self._stack.running[0] if self._stack.running else self._model
        if root is None:
            return None
        name = getattr(getattr(root, "config", None), "_name_or_path", "")
        return name or type(root).__name__


def _member(array: Any, batch: int) -> Any:
    """Of an array with four axes that of a batch member; others are the same for all."""
    if array is None or array.ndim < 4:
        return array
    return array[batch if array.shape[0] > 1 else 0]


def _hides(mask: Any, begin: int) -> bool:
    """Whether a mask hides all keys from `begin` on from all queries."""
    if mask is None or mask.shape[-1] <= begin:
        return False
    rest = mask[..., begin:]
    if str(rest.dtype) == "torch.bool":
        return not bool(rest.any())
    return bool((rest <= need("torch", "Recording a model").finfo(rest.dtype).min / 2).all())


def _warn(message: str) -> None:
    warnings.warn(message, FoveaWarning, stacklevel=2)
