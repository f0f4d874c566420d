"""Records the attention of whatever model runs in a block."""
from __future__ import annotations

import os
import random
import threading
import warnings
from dataclasses import replace
from typing import Any, Callable, Container, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Union

from .call import Call, names_metadata, shared_metadata
from .check import difference
from .encoding import token_lists
from .errors import FoveaError, FoveaWarning, need
from .labels import Labelled, TokenLabels
from .layer_choice import LayerChoice, Layers
from .names import Place, model_name
from .places import Places
from .reader import LONGEST_HEADER
from .seen import SeenAny
from .shared_bias import GivenBias, SharedBias
from .steps import Steps, Turn
from .unseen import Unseen
from .watch import WATCH, Audience
from .writer import TensorMemory, TensorWriter, metadata_length

ROOM_OF_CALL = 1 << 14  # bytes that the header may grow by one call without its tokens
ENTRY = 128  # bytes of a tensor in the header, without the name of its call


def record(path: "str | os.PathLike[str]", model: Any = None, *, layers: Layers = None,
           heads: Optional[Iterable[int]] = None, steps: Union[None, int, Container[int]] = None,
           tokens: Optional[Sequence] = None, key_tokens: Optional[Sequence] = None,
           outputs: bool = True) -> "Recording":
    """Records every attention call of the block to a .safetensors file that Fovea opens.

        with fovea.record("run.safetensors", tokens=tokenizer.convert_ids_to_tokens(ids[0])):
            model(ids)

    Models of transformers are seen in the function that computes their attention, all others in
    torch.nn.functional.scaled_dot_product_attention. Where a model computes attention by itself, its weights alone
    are recorded. Layers of transformers that compute a recurrence (Gated DeltaNet, KDA, Mamba-2) have gates beside
    queries, keys and values. `model` is not needed: it only gives the paths of modules their names before the first
    call.
    `layers` are numbers, or names such as "decoder.layer3" or "blocks.3.attn"; `heads` are numbers of query heads;
    `steps` are numbers of calls of the model, such as 0 or range(0, 100, 10). `tokens` is a list of strings, one
    list for each member of a batch, or what a tokenizer returned; in encoder-decoder models `key_tokens` are those
    of the encoder. Both may be set before the block ends, as in `recording.tokens = [...]` after generating. With
    `outputs` the model's own output of every head is kept, and compared with what was recorded.

    The file appears when the block ends; if it ends with an exception, nothing is replaced. Raises FoveaError if
    nothing was recorded, and says what to do; warns with FoveaWarning of anything that is left out.
    """
    return Recording(path, layers, heads, steps, tokens, key_tokens, outputs, model)


class Part(NamedTuple):
    """Some calls of a recording that still runs, as a file of them has them."""

    arrays: Dict[str, Any]
    metadata: Dict[str, str]  # of these calls; "tokens" without a call are of all calls that name no others
    same: Dict[str, str]  # tensors that equal one which was given before, by their names


class Recording:
    """A recording that runs. `calls` names the calls in the file. `tokens` and `key_tokens` may be set."""

    def __init__(self, path: "str | os.PathLike[str]", layers: Layers,
                 heads: Optional[Iterable[int]], steps: Union[None, int, Container[int]], tokens: Optional[Sequence],
                 key_tokens: Optional[Sequence], outputs: bool, model: Any,
                 memory: Optional[TensorMemory] = None, say: Optional[Callable[[str], None]] = None,
                 in_parts: bool = False) -> None:
        self.path = os.fspath(path)
        self._memory = memory  # in place of the file; then only this thread is recorded
        self._in_parts = in_parts  # somebody takes what was written with `part`
        self._given = 0  # calls
        self._given_tokens: Optional[str] = None  # of all calls that name no others
        self._say = say or _warn
        self.calls: List[str] = []
        self._file: Union[None, TensorWriter, TensorMemory] = None
        self._ended = False
        self._warned: List[str] = []
        self.tokens, self.key_tokens = tokens, key_tokens
        self._model = model
        self._layers = LayerChoice(layers)
        self._heads = None if heads is None else [heads] if isinstance(heads, int) else list(heads)
        self._kept_steps = [steps] if isinstance(steps, int) else steps
        self._outputs = outputs
        self._metadata: Dict[str, Dict[str, str]] = {}
        self._said = 0  # bytes of it
        self._labelled: Dict[str, Labelled] = {}
        self._left_out: Set[str] = set()
        self._lock = threading.Lock()
        self._random = random.Random(0)
        self._steps = Steps()
        self._places = Places(WATCH.stack)
        self._unseen = Unseen(self._places.where)
        self._audience = Audience(self._places, self._unseen, self._keep, self._end_in_fork,
                                  own_thread_only=memory is not None)
        self._forked = False  # this is a copy in another process
        self._bias: Union[None, SharedBias, GivenBias] = None

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("tokens", "key_tokens"):
            try:
                value = token_lists(value, name)
            except Exception as error:
                if self._file is None or self._ended:
                    raise
                self._warn(f"{error}: {name} are left out")  # the recording does not end with them
                value = None
        super().__setattr__(name, value)

    def __enter__(self) -> "Recording":
        need("torch", "Recording a model")
        need("numpy", "Recording a model")
        if self._file is not None:
            raise FoveaError("a recording is for one block: call fovea.record again")
        self._file = self._memory or TensorWriter(self.path)
        self._bias = GivenBias(self._file) if self._in_parts else SharedBias(self._file)
        try:
            if self._model is not None:
                self._places.know(getattr(self._model, "_orig_mod", self._model))
            WATCH.start(self._audience)
        except BaseException:
            WATCH.stop(self._audience)
            self._file.discard()
            raise
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        assert self._file is not None and self._bias is not None
        if self._forked:
            return self._say("Nothing is recorded here: this process was forked inside the block, and the process that "
                         "began it writes the file")
        WATCH.stop(self._audience)
        with self._lock:  # a thread may still run
            self._ended = True
            if kind is not None or not self.calls or self._file.fault:
                self._file.discard()
                if kind is None:
                    raise FoveaError(self._why_nothing()) from self._file.fault
                return
            labels = TokenLabels(self.tokens, self.key_tokens, list(self._labelled.values()))
            try:
                self._bias.finish()
                self._file.finish(self._named(labels))
            except BaseException:
                self._file.discard()
                raise
        for missed in self._unseen.missed():
            self._say(f"Left out: {missed}")
        without = self._places.without()
        if without and self._layers.is_all:
            self._say("No softmax attention was seen in " + _listed(without))
        for note in [*self._unseen.notes(), *self._warned, labels.complaint]:
            if note:
                self._say(note)

    def part(self) -> Optional[Part]:
        """The calls that were written since the last part; None if there were none."""
        with self._lock:
            prefixes = self.calls[self._given :]
            if not prefixes:
                return None
            assert self._memory is not None and isinstance(self._bias, GivenBias)
            labels = TokenLabels(self.tokens, self.key_tokens, list(self._labelled.values()))
            metadata = {} if self._given else shared_metadata({})
            self._given = len(self.calls)
            for prefix in prefixes:
                said = {**self._metadata[prefix], **self._tokens_of(labels, prefix)}
                if self._given_tokens is None and "tokens" in said:
                    metadata["tokens"] = self._given_tokens = said["tokens"]
                if said.get("tokens") == self._given_tokens:
                    said.pop("tokens", None)
                metadata.update({f"{prefix}.{key}": text for key, text in said.items()})
            same, self._bias.same = self._bias.same, {}
            return Part(self._memory.take(), metadata, same)

    @property
    def same(self) -> Dict[str, str]:
        """As in a Part, of the calls that are in no part."""
        return self._bias.same if isinstance(self._bias, GivenBias) else {}

    def _named(self, labels: TokenLabels) -> Dict[str, str]:
        """The metadata of the file, with the tokens of all calls, or of the first for which its header has room."""
        assert self._file is not None
        named = {prefix: {**said, **self._tokens_of(labels, prefix)} for prefix, said in self._metadata.items()}
        result = shared_metadata(named)
        room = LONGEST_HEADER - ROOM_OF_CALL - self._file.header_length
        if metadata_length(result) <= room:
            return result
        room -= self._said
        first = ""  # call without tokens
        for prefix, said in self._metadata.items():
            if not first:
                own = self._tokens_of(labels, prefix)
                room -= metadata_length({f"{prefix}.{key}": text for key, text in own.items()})
                first = prefix if room < 0 else ""
            if first:
                named[prefix] = said
        self._warn(f"The header of the file has no room for all tokens: {first} and the calls after it are without "
                   "them: record fewer calls, with steps= or layers=")
        return shared_metadata(named)

    def _tokens_of(self, labels: TokenLabels, prefix: str) -> Dict[str, str]:
        said = names_metadata(*labels.of(self._labelled[prefix]))
        return {key: text for key, text in said.items() if text is not None}

    def _why_nothing(self) -> str:
        nothing = "Nothing was recorded: "
        if self._file is not None and self._file.fault:
            return f"{nothing}the file cannot be written: {self._file.fault}"
        missed = self._unseen.missed()
        if missed:
            return nothing + " ".join(missed)
        if self._left_out:
            return (nothing + "none of the attentions is in `layers` and `steps`. Seen were " +
                    _listed(sorted(self._left_out)))
        roots = list(dict.fromkeys(self._places.roots))
        if not roots:
            return (nothing + "no module of PyTorch was called, and no attention was computed. Call the model inside "
                    "the with block.")
        return (f"{nothing}no attention was seen in {_listed(roots)}: there is no softmax that values are "
                "multiplied with. If it computes attention in another way, give q, k and v to fovea.save.")

    def _end_in_fork(self) -> bool:
        """The child records nothing: the file is that of its parent."""
        self._forked = True
        if self._file is not None:
            self._file.let_go()
        return False

    def _keep(self, seen: SeenAny) -> None:
        """Writes a call, one for each member of a batch."""
        with self._lock:
            assert self._file is not None
            if self._ended or self._file.fault:
                return
            place = self._places.of(seen.module)
            turn = self._steps.next(place.name, WATCH.stack.run, seen.queries, seen.keys, place.role == "cross",
                                    seen.goes_on)
            if not self._wanted(place, turn, seen.module):
                return
            chosen = self._chosen_heads(place, seen.heads)
            if seen.replaced:
                self._warn("Attention was replaced in the block: its queries, keys and values are recorded, and no "
                           "output of the model")
            if seen.dropout > 0:
                self._warn(f"{place.name}: the model drops weights at random, so its output is not kept: call "
                           "model.eval()")
            prefixes = [turn.name(place.name, batch, seen.members) for batch in range(seen.members)]
            for batch, prefix in enumerate(prefixes):  # whose tokens count, even if the call is left out
                self._labelled[prefix] = Labelled(place.name, place.role, turn, batch)
            for prefix, call in zip(prefixes, seen.calls(turn.total, self._outputs)):
                call = call.of_heads(chosen) if chosen is not None else call
                call.model, call.module = self._model_name(), self._places.path(seen.module) or None
                self._write(prefix, call)
                if isinstance(call, Call) and call.recurrence is None:
                    wrong = difference(call, self._random.randrange(call.heads), getattr(seen, "short_logits", True))
                    if wrong:
                        self._warn(f"{prefix}: {wrong}")

    def _write(self, prefix: str, call: Any) -> None:
        assert self._file is not None and self._bias is not None
        call.check()
        if self._file.header_length + self._said > LONGEST_HEADER - ROOM_OF_CALL:
            raise FoveaError(f"the file has {len(self.calls)} calls, and its header has no room for more: record some "
                             "with steps= and layers=, or record in several files")
        bias = None
        if isinstance(call, Call):
            bias = call.conditions.bias
            call = replace(call, conditions=replace(call.conditions, bias=None))
        said = call.write(self._file, prefix)
        if isinstance(call, Call):
            self._bias.add(prefix, bias)
        if bias is not None:
            self._said += len(prefix) + ENTRY
        self._metadata[prefix] = said
        self._said += metadata_length({f"{prefix}.{key}": text for key, text in said.items()})
        self.calls.append(prefix)

    def _wanted(self, place: Place, turn: Turn, module: Any) -> bool:
        if self._layers.has(self._places, module) and (self._kept_steps is None or turn.step in self._kept_steps):
            return True
        self._left_out.add(place.name)
        return False

    def _chosen_heads(self, place: Place, heads: int) -> Optional[List[int]]:
        for head in self._heads or []:
            if not 0 <= head < heads:
                raise FoveaError(f"heads has {head}; {place.name} has the heads 0 to {heads - 1}")
        return self._heads

    def _model_name(self) -> str:
        running = WATCH.stack.running
        root = running[0] if running else self._model
        return "" if root is None else model_name(root)

    def _warn(self, message: str) -> None:
        """Says it at the end, once."""
        if message not in self._warned:
            self._warned.append(message)


def _listed(names: List[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _warn(message: str) -> None:
    warnings.warn(message, FoveaWarning, stacklevel=3)
