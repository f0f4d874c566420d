"""Puts any variant of Fovea in the place of a model's attention, for as long as a block runs."""
from __future__ import annotations

import json
import threading
import warnings
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from .errors import FoveaError, FoveaWarning, need
from .layer_choice import LayerChoice, Layers
from .places import Places
from .seen import Seen, SeenAny, SeenRecurrence
from .server import ask
from .steps import Steps
from .watch import WATCH, Audience

MOST = 8  # names that a message lists


class Part(NamedTuple):
    """A variant in some heads of some layers."""

    variant: str
    layers: LayerChoice
    heads: Optional[List[int]]  # None: all
    seed: int = 0
    parameters: Mapping[str, Any] = {}

    def request(self) -> Dict[str, Any]:
        """What `fovea serve` is asked for."""
        request = {"variant": self.variant, "seed": self.seed,
                   "parameters": {name: _text(value) for name, value in self.parameters.items()}}
        return request if self.heads is None else {**request, "heads": self.heads}


def replace(model: Any, variant: Optional[str] = None, *, layers: Layers = None, heads: Optional[Iterable[int]] = None,
            seed: int = 0, parameters: Optional[Mapping[str, Any]] = None, policy: Optional[str] = None, **more: Any
            ) -> "Replacing":
    """Computes the attention of a PyTorch model with a variant of Fovea while the block runs.

        with fovea.replace(model, variant="hyper", layers=range(20, 30), block=256):
            loss = model(ids, labels=ids).loss

    `variant` and its parameters are those of `fovea compute --variant --set`; `fovea variants` lists them. One whose
    name is taken here goes into `parameters`, as {"heads": "split"} of `fixed`. `layers` are numbers, or names such
    as "decoder.layer3" or "blocks.3.attn", `heads` numbers of query heads; all by default. What the model says of its
    attention holds: grouped heads, masks, biases, windows, scales, soft caps and sinks. The answer has the type of
    the queries and no gradients: call the model under torch.no_grad(). Weights of attention, where they are asked
    for, are None. `fovea serve` computes: a process that is started when it is first needed.

    `policy` is a file of `fovea effect -o policy.json`, which says all of this for each head:

        with fovea.replace(model, policy="policy.json"):
            loss = model(ids, labels=ids).loss

    Blocks can be nested: in a layer that both name the inner one alone replaces attention. A recording in or around
    the block sees queries, keys and values of every call as the model has them then, and no output of calls that were
    replaced.

    Raises FoveaError for a variant or a parameter that does not exist, for attention in these layers that cannot be
    replaced, and if nothing was replaced; warns with FoveaWarning of layers that never ran.
    """
    if policy is not None:
        if variant is not None or layers is not None or heads is not None or seed or parameters or more:
            raise FoveaError("policy says which variant is where; expected no variant, layers, heads, seed or "
                             "parameters beside it")
        return Replacing(model, read_policy(policy))
    some = None if heads is None else [heads] if isinstance(heads, int) else [int(head) for head in heads]
    return Replacing(model, [Part(variant or "exact", LayerChoice(layers), some, seed,
                                  {**(parameters or {}), **more})])


def read_policy(path: str) -> List[Part]:
    """Raises FoveaError for a file that is no policy."""
    with open(path, encoding="utf-8") as file:
        try:
            content = json.load(file)
        except ValueError as error:
            raise FoveaError(f"{path} is not JSON: {error}") from error
    if not isinstance(content, dict) or content.get("policy") != 1:
        raise FoveaError(f"{path} is no policy; expected an object with \"policy\": 1, as fovea effect "
                         "-o policy.json writes it")
    try:
        layers, heads = int(content["layers"]), int(content["heads"])
        if not content["parts"]:
            raise FoveaError(f"{path} has no parts; expected at least one")
        if any(each.get("structures") for each in content["parts"]):
            raise FoveaError(f"{path} gives heads structures of files, such as learned trees, which fovea.replace "
                             "does not take: fovea effect --policy measures it")
        return [part for each in content["parts"]
                for part in parts_of(str(each["variant"]), heads_in(each["where"], layers, heads),
                                     int(each.get("seed") or 0), dict(each.get("parameters") or {}))]
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise FoveaError(f"{path} is damaged: {type(error).__name__}: {error}") from error


def heads_in(where: str, layers: int, heads: int) -> List[Tuple[int, Optional[List[int]]]]:
    """The chosen heads of each layer in a text such as "25-29,3.1,4.*,5.0-3"; None: all heads of the layer."""
    chosen: Dict[int, Set[int]] = {}
    for item in where.split(","):
        of_layers, _, of_heads = item.strip().replace("all", "*").partition(".")
        for layer in _range(of_layers, layers):
            chosen.setdefault(layer, set()).update(_range(of_heads or "*", heads))
    return [(layer, None if len(some) == heads else sorted(some)) for layer, some in sorted(chosen.items())]


def _range(text: str, count: int) -> Iterable[int]:
    if text == "*":
        return range(count)
    first, dash, last = text.partition("-")
    if dash and not last:
        raise ValueError(f"{text!r} is no range")
    found = range(int(first), int(last or first) + 1)
    if not found or found[0] < 0 or found[-1] >= count:
        raise ValueError(f"{text!r} is not within 0 to {count - 1}")
    return found


def parts_of(variant: str, where: Iterable[Tuple[int, Optional[List[int]]]], seed: int, parameters: Mapping[str, Any]
             ) -> List[Part]:
    """One part for all layers whose heads are the same ones."""
    layers: Dict[Optional[Tuple[int, ...]], List[int]] = {}
    for layer, heads in where:
        layers.setdefault(None if heads is None else tuple(heads), []).append(layer)
    return [Part(variant, LayerChoice(some), None if heads is None else list(heads), seed, parameters)
            for heads, some in layers.items()]


class Replacing:
    """Attention that is being replaced. `seconds` are those that the variants took until now, `calls` their number.

    `costs` are the multiply-adds of each part, and those of exact attention in its heads.
    """

    def __init__(self, model: Any, parts: Sequence[Part], own_thread_only: bool = False,
                 say: Optional[Callable[[str], None]] = None) -> None:
        self._say = say or _warn
        self._model = getattr(model, "_orig_mod", model)
        self._parts = list(parts)
        self.costs = [(0.0, 0.0)] * len(self._parts)
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
        for part in self._parts:
            ask({"do": "check", **part.request()})
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
        never = [name for part in self._parts for name in part.layers.never_met()]
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
            return bool(self._here(module))

    def needs_own(self, module: Any) -> bool:
        """Whether the output of the module itself is needed, for heads that stay as they are."""
        with self._lock:
            return all(part.heads is not None for _, part in self._here(module))

    def _here(self, module: Any) -> List[Tuple[int, Part]]:
        return [(number, part) for number, part in enumerate(self._parts) if part.layers.has(self._places, module)]

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
        parts = self._here(seen.module)
        for head in (head for _, part in parts for head in part.heads or []):
            if not 0 <= head < seen.heads:
                raise FoveaError(f"heads has {head}; expected 0 to {seen.heads - 1}")
        place = self._places.of(seen.module)
        turn = self._steps.next(place.name, WATCH.stack.run, seen.queries, seen.keys, place.role == "cross")
        members: Dict[int, List[Any]] = {}
        for call in seen.calls(turn.total, outputs=False):
            call.check()
            arrays, metadata = call.arrays(), call.metadata()
            for number, part in parts:
                answer = ask({"do": "attend", **part.request()}, arrays, metadata)
                members.setdefault(number, []).append(torch.from_numpy(answer.tensors.arrays["z"]))
                self._count(number, answer.content)
        self.calls += 1
        whole = None if seen.z is None else seen.z.detach().clone()
        for number, part in parts:
            z = torch.stack(members[number]).to(device=seen.q.device, dtype=seen.q.dtype)
            if part.heads is None:
                whole = z
            else:
                whole[:, part.heads] = z
        return whole

    def _count(self, number: int, content: Dict[str, Any]) -> None:
        self.seconds += content["seconds"]
        cost, exact = self.costs[number]
        self.costs[number] = (cost + content["multiply_adds"], exact + content["exact_multiply_adds"])
        self._notes += [note for note in content["notes"] if note not in self._notes]

    def _see(self, seen: SeenAny) -> None:
        """A call that was computed."""
        if seen.replaced or isinstance(seen, SeenRecurrence):
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
        """Nothing: `_see` has refused the call."""

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
