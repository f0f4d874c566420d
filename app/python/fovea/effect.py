"""What another attention in some heads does to a model: losses, next-token distributions, hidden states."""
from __future__ import annotations

import contextlib
import time
from typing import Any, Callable, ContextManager, Dict, Iterator, List, Optional, Tuple

from .errors import FoveaError, need
from .outputs import Outputs, Reference
from .reading import ReadingModel, Request, watched


class Effects:
    """Measures replacements in one model. The outputs of exact attention are kept for the text that was read last."""

    def __init__(self, model: ReadingModel) -> None:
        self._model = model
        self._of: Any = None  # what the exact outputs depend on
        self._exact: Optional[Reference] = None
        self._layers = KeptLayers(model.model)
        self._ran = False

    def measure(self, request: Request, replacing: Callable[[List[str]], ContextManager[Any]], first_layer: int = 0,
                rows: bool = True) -> Dict[str, Any]:
        """Runs the model on a text as it is, and in the context that `replacing` makes, which adds to its argument.

        Nothing changes below `first_layer`: what these layers gave is used again.

        Returns what Reference.compare does, with "ids", those of the tokens, "tokens", their number, and "notes".
        """
        notes: List[str] = []
        inputs, ids = self._model.inputs_of(request, notes)
        of = (ids, self._state())
        share = 0.0
        if of != self._of or self._exact is None:
            self._exact, self._of = None, of
            with self._layers.kept():
                self._exact = Reference(outputs_of(self._model, inputs, request, 0.0, 0.5), ids)
            self._ran, share = True, 0.5
        with replacing(notes), self._layers.used_below(first_layer):
            after = outputs_of(self._model, inputs, request, share, 1.0)
        return {**self._exact.compare(after, rows), "ids": ids, "tokens": len(ids), "notes": notes}

    def time(self, request: Request, replacing: Callable[[List[str]], ContextManager[Any]]) -> Dict[str, Any]:
        """Runs all layers on a text as they are, and then in the context that `replacing` makes.

        Returns "exact_seconds" and "seconds" of the two passes, and "attention_seconds" of the variants, if the
        context has them. A model that has not run before runs once more at first, as a first pass takes longer.
        """
        inputs, _ = self._model.inputs_of(request, [])
        if not self._ran:
            outputs_of(self._model, inputs, request, 0.0, 0.3)
            self._ran = True
        exact = outputs_of(self._model, inputs, request, 0.3, 0.6)
        with replacing([]) as replaced:
            after = outputs_of(self._model, inputs, request, 0.6, 1.0)
        return {"exact_seconds": exact.seconds, "seconds": after.seconds,
                "attention_seconds": getattr(replaced, "seconds", None)}

    def _state(self) -> Any:
        """Changes whenever a parameter or buffer does."""
        model = self._model.model
        return [(id(tensor), tensor._version) for tensor in (*model.parameters(), *model.buffers())]


class KeptLayers:
    """What the layers of a model gave, if each layer but the first takes what the one before it gave."""

    def __init__(self, model: Any) -> None:
        config = getattr(model, "config", None)
        config = config.get_text_config() if hasattr(config, "get_text_config") else config
        count = getattr(config, "num_hidden_layers", None)
        modules = model.modules() if hasattr(model, "modules") else []
        lists = [module for module in modules if type(module).__name__ == "ModuleList" and len(module) == count]
        self._layers: List[Any] = list(lists[0]) if len(lists) == 1 else []
        self._outputs: Dict[int, Any] = {}
        self._in_turn = False

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Keeps what the layers give while the block runs."""
        self._outputs, self._in_turn = {}, True
        hooks = []
        for number, layer in enumerate(self._layers):
            hooks += [layer.register_forward_pre_hook(self._before(number), with_kwargs=True),
                      layer.register_forward_hook(self._after(number))]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    def _before(self, number: int) -> Callable[..., None]:
        def see(_: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
            given = args[0] if args else kwargs.get("hidden_states")
            before = self._outputs.get(number - 1)
            self._in_turn &= number == 0 or given is (before[0] if isinstance(before, tuple) else before)
        return see

    def _after(self, number: int) -> Callable[..., None]:
        def see(_: Any, __: Any, output: Any) -> None:
            self._in_turn &= number not in self._outputs
            self._outputs[number] = output
        return see

    @contextlib.contextmanager
    def used_below(self, first: int) -> Iterator[int]:
        """Layers below `first` give what they gave, without being run. Yields how many these are."""
        count = first if self._in_turn and len(self._outputs) == len(self._layers) else 0
        before = [(layer, layer.__dict__.get("forward")) for layer in self._layers[:count]]
        for number, (layer, _) in enumerate(before):
            layer.forward = self._giving(number)
        try:
            yield count
        finally:
            for layer, own in before:
                if own is None:
                    del layer.forward
                else:
                    layer.forward = own

    def _giving(self, number: int) -> Callable[..., Any]:
        return lambda *_, **__: self._outputs[number]


def outputs_of(model: ReadingModel, inputs: Dict[str, Any], request: Request, begin_share: float, end_share: float
               ) -> Outputs:
    """Runs the model; progress goes from one share to the other."""
    torch = need("torch", "Running a model")
    if getattr(getattr(model.model, "config", None), "is_encoder_decoder", False):
        raise FoveaError(f"{model.name} has an encoder and a decoder, of which effects are not measured; expected a "
                         "model of one stack, such as GPT, Llama or BERT")

    def reached(part: float) -> None:
        request.reached(begin_share + (end_share - begin_share) * part)

    _finish(torch)
    begin = time.perf_counter()
    with torch.no_grad(), watched(model.model, reached):
        out = model.model(**inputs, output_hidden_states=True)
    _finish(torch)
    seconds = time.perf_counter() - begin
    hidden = getattr(out, "hidden_states", None) or ()
    logits = out.logits[0] if predicts_next_token(model.model) and hasattr(out, "logits") else None
    return Outputs(logits, [state[0] for state in hidden[1:]], seconds)


def _finish(torch: Any) -> None:
    """Waits for what runs on a GPU."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def predicts_next_token(model: Any) -> bool:
    return type(model).__name__.endswith(("ForCausalLM", "LMHeadModel", "ForConditionalGeneration"))
