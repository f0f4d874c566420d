"""Puts any variant of Fovea in the place of a model's attention, for as long as a block runs."""
from __future__ import annotations

import threading
import warnings
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Set, Tuple

from .errors import FoveaError, FoveaWarning, need
from .layer_choice import LayerChoice, Layers
from .places import Places
from .seen import Seen, SeenAny
from .server import ask
from .steps import Steps
from .watch import WATCH, Audience

MOST = 8  # names that a message lists


def replace(model: Any, variant: str = "exact", *, layers: Layers = None, heads: Optional[Iterable[int]] = None,
            seed: int = 0, parameters: Optional[Mapping[str, Any]] = None, **more: Any) -> "Replacing":
    """Computes the attention of a PyTorch model with a variant of Fovea while the block runs.

        with fovea.replace(model, variant="hyper", layers=range(20, 30), block=256):
            loss = model(ids, labels=ids).loss

    `variant` and its parameters are those of `fovea compute --variant --set`; `fovea variants` lists them. One whose
    name is taken here goes into `parameters`, as {"heads": "split"} of `fixed`. `layers` are numbers, or names such
    as "decoder.layer3" or "blocks.3.attn", `heads` numbers of query heads; all by default. What the model says of its
    attention holds: grouped heads, masks, biases, windows, scales, soft caps and sinks. The answer has the type of
    the queries and no gradients: call the model under torch.no_grad(). Weights of attention, where they are asked
    for, are None. `fovea serve` computes: a process that is started when it is first needed.

    Blocks can be nested: in a layer that both name the inner one alone replaces attention. A recording in or around
    the block sees queries, keys and values of every call as the model has them then, and no output of calls that were
    replaced.

    Raises FoveaError for a variant or a parameter that does not exist, for attention in these layers that cannot be
    replaced, and if nothing was replaced; warns with FoveaWarning of layers that never ran.
    """
    return Replacing(model, variant, layers, heads, seed, {**(parameters or {}), **more})


class Replacing:
    """Attention that is being replaced. `seconds` are those that the variant took until now, `calls` their number."""

    needs_own: bool  # whether the model's own output is needed beside

    def __init__(self, model: Any, variant: str, layers: Layers, heads: Optional[Iterable[int]], seed: int,
                 parameters: Dict[str, Any], own_thread_only: bool = False, say: Optional[Callable[[str], None]] = None
                 ) -> None:
        self._say = say or _warn
        self._model = getattr(model, "_orig_mod", model)
        self._layers = LayerChoice(layers)
        self._heads = None if heads is None else [heads] if isinstance(heads, int) else [int(head) for head in heads]
        self.needs_own = self._heads is not None
        self._request = {"variant": variant, "seed": seed,
                         "parameters": {name: _text(value) for name, value in parameters.items()}}
        self._modules: Set[int] = set()
        self._steps = Steps()
        self._places = Places(WATCH.stack)
        self._audience = Audience(self._places, self, self._see, self._go_on_in_fork, replacement=self,
                                  own_thread_only=own_thread_only)
        self._lock = threading.Lock()
        self._refusal: Optional[FoveaError] = None
        self._others: List[str] = []  # places that were not chosen
        self._notes: List[str] = []
        self.seconds, self.calls = 0.0, 0

    def __enter__(self) -> "Replacing":
        torch = need("torch", "Replacing the attention of a model")
        need("numpy", "Replacing the attention of a model")
        if self._modules:
            raise FoveaError("a replacement is for one block: call fovea.replace again")
        if not isinstance(self._model, torch.nn.Module):
            raise FoveaError(f"model is of the class {type(self._model).__name__}; expected a torch.nn.Module")
        ask({"do": "check", **self._request})
        self._places.know(self._model)
        self._modules = {id(module) for module in self._model.modules()}
        try:
            WATCH.start(self._audience)
        except BaseException:
            WATCH.stop(self._audience)
            raise
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        WATCH.stop(self._audience)
        if kind is not None:
            return
        if self._refusal is not None:  # the model went on after it
            raise self._refusal
        if not self.calls:
            raise FoveaError("Nothing was replaced: " + self._why_nothing())
        never = self._layers.never_met()
        if never:
            self._say(f"No attention was seen in these layers, so nothing was replaced there: {_listed(never)}")
        for note in self._notes:
            self._say(note)

    def _why_nothing(self) -> str:
        if self._others:
            return f"none of the attentions is in `layers`. Seen were {_listed(self._others)}"
        return (f"no attention was seen in {type(self._model).__name__}. Call the model that was given, not a copy of "
                "it, inside the with block.")

    # What WATCH asks. `module` is the one that attention is computed in.

    def wants(self, module: Any) -> bool:
        if id(module) not in self._modules:
            return False
        with self._lock:
            return self._layers.has(self._places, module)

    def answer(self, module: Any, make: Callable[[], Seen]) -> Tuple[Seen, Any]:
        """A call, and its output [B, H, nq, dv] in the type of the queries."""
        try:
            with self._lock:
                seen = make()
                return seen, self._answer(seen)
        except FoveaError as error:
            raise FoveaError(f"The attention of {self._places.where(module)} cannot be replaced: {error}") from error

    def _answer(self, seen: Seen) -> Any:
        torch = need("torch", "Replacing the attention of a model")
        tensors = [seen.q, seen.k, seen.v, seen.mask, seen.bias]
        if torch.is_grad_enabled() and any(getattr(tensor, "requires_grad", False) for tensor in tensors):
            raise FoveaError("gradients are needed, and a replaced attention has none: call the model under "
                             "torch.no_grad()")
        if seen.dropout > 0:
            raise FoveaError("the model drops weights at random: call model.eval()")
        for head in self._heads or []:
            if not 0 <= head < seen.heads:
                raise FoveaError(f"heads has {head}; expected 0 to {seen.heads - 1}")
        place = self._places.of(seen.module)
        turn = self._steps.next(place.name, WATCH.stack.run, seen.queries, seen.keys, place.role == "cross")
        request = {"do": "attend", **self._request}
        if self._heads is not None:
            request["heads"] = self._heads
        members = []
        for call in seen.calls(turn.total, outputs=False):
            call.check()
            answer = ask(request, call.arrays(), call.metadata())
            members.append(torch.from_numpy(answer.tensors.arrays["z"]))
            self.seconds += answer.content["seconds"]
            for note in answer.content["notes"]:
                if note not in self._notes:
                    self._notes.append(note)
        z = torch.stack(members) if len(members) > 1 else members[0][None]
        z = z.to(device=seen.q.device, dtype=seen.q.dtype)
        self.calls += 1
        if self._heads is None:
            return z
        whole = seen.z.detach().clone()
        whole[:, self._heads] = z
        return whole

    def _see(self, seen: SeenAny) -> None:
        """A call that was computed."""
        if seen.replaced:
            return
        self.error("this module computes its attention by itself, where it cannot be replaced: load the model with "
                   "attn_implementation=\"sdpa\", or compute with "
                   "torch.nn.functional.scaled_dot_product_attention", seen.module)
        if id(seen.module) in self._modules:
            name = self._places.of(seen.module).name
            if name not in self._others:
                self._others.append(name)

    # Attention that was not replaced. In these layers it ends the run: a figure would be half that of the exact model.

    def error(self, message: str, module: Any) -> None:
        if not self.wants(module):
            return
        if self._refusal is None:
            self._refusal = FoveaError(f"The attention of {self._places.where(module)} cannot be replaced: {message}")
        raise self._refusal

    def operation(self, name: str, module: Any) -> None:
        self.error(f"it is computed with {name}; load the model with attn_implementation=\"sdpa\" or \"eager\" if it "
                   "has these", module)

    def weights_alone(self, module: Any, root: Any) -> None:
        """Of what `_see` has refused."""

    def _go_on_in_fork(self) -> bool:
        self._lock = threading.Lock()  # a thread that is not here may have had it
        return True


def _text(value: Any) -> str:
    """As --set takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_text(each) for each in value)
    return str(value)


def _listed(names: List[str]) -> str:
    return ", ".join(names[:MOST]) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")


def _warn(message: str) -> None:
    warnings.warn(message, FoveaWarning, stacklevel=3)
