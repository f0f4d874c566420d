"""What another attention in some heads does to a model: losses, next-token distributions, hidden states."""
from __future__ import annotations

import contextlib
import math
import time
from typing import Any, Callable, ContextManager, Dict, Iterator, List, NamedTuple, Optional, Tuple

from .errors import FoveaError, need
from .reading import ReadingModel, Request, watched

ROWS = 64  # of logits that are looked at together, in float64
LIKELIEST = 5  # next tokens of a position


class Outputs(NamedTuple):
    """What a model gives for n tokens."""

    logits: Any  # [n, vocabulary]; None: the model does not predict the next token
    hidden: List[Any]  # [n, width] after each layer, as the model returns them
    seconds: float  # of the forward pass


class Effects:
    """Measures replacements in one model. The outputs of exact attention are kept for the text that was read last."""

    def __init__(self, model: ReadingModel) -> None:
        self._model = model
        self._of: Any = None  # what the exact outputs depend on
        self._exact: Optional[Outputs] = None
        self._layers = KeptLayers(model.model)
        self._ran = False

    def measure(self, request: Request, replacing: Callable[[List[str]], ContextManager[Any]], first_layer: int = 0
                ) -> Dict[str, Any]:
        """Runs the model on a text as it is, and in the context that `replacing` makes, which adds to its argument.

        Nothing changes below `first_layer`: what these layers gave is used again.

        Returns numbers and, for each token, lists: see `compare`; with "tokens", their number, and "notes".
        """
        notes: List[str] = []
        inputs, ids = self._model.inputs_of(request, notes)
        of = (ids, self._state())
        share = 0.0
        if of != self._of or self._exact is None:
            self._exact, self._of = None, of
            with self._layers.kept():
                self._exact = outputs_of(self._model, inputs, request, 0.0, 0.5)
            self._ran, share = True, 0.5
        with replacing(notes), self._layers.used_below(first_layer):
            after = outputs_of(self._model, inputs, request, share, 1.0)
        return {**compare(self._exact, after, ids), "tokens": len(ids), "notes": notes}

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
    return Outputs(logits, [state[0].float() for state in hidden[1:]], seconds)


def _finish(torch: Any) -> None:
    """Waits for what runs on a GPU."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def predicts_next_token(model: Any) -> bool:
    return type(model).__name__.endswith(("ForCausalLM", "LMHeadModel", "ForConditionalGeneration"))


def compare(exact: Outputs, replaced: Outputs, ids: List[int]) -> Dict[str, Any]:
    """How far the outputs of a replacement are from exact ones. What a model does not have is None.

    loss: -log p of the next token, [n - 1], in nats; kl: KL(exact || replaced) of the distributions of the next token,
    [n], in nats; top1: whether the likeliest next token is the same, [n]; likeliest: the ids and probabilities of the
    likeliest next tokens, of both; drift: for each layer what `drift_of` returns; pooled_cosine: of the means of the
    last hidden states over all tokens; class_cosine: of the first token's; token_drift: |h' - h| / |h| of the last
    hidden state of each token.
    """
    result: Dict[str, Any] = dict.fromkeys(
        ("exact_perplexity", "perplexity", "exact_loss_per_token", "loss_per_token", "kl_mean", "kl_max", "kl_max_at",
         "top1_agreement", "exact_loss", "loss", "kl", "top1", "likeliest", "exact_likeliest"))
    if exact.logits is not None and len(ids) > 1:
        result.update(_compare_logits(exact.logits, replaced.logits, ids))
    pairs = list(zip(replaced.hidden, exact.hidden))
    result["drift"] = [drift_of(*pair) for pair in pairs] or None
    result["pooled_cosine"] = result["class_cosine"] = result["token_drift"] = None
    if pairs:
        last, exact_last = (state.double() for state in pairs[-1])
        lengths = exact_last.norm(dim=1).clamp_min(1e-300)
        result["token_drift"] = ((last - exact_last).norm(dim=1) / lengths).tolist()
        result["pooled_cosine"] = _cosine(last.mean(0), exact_last.mean(0))
        result["class_cosine"] = _cosine(last[0], exact_last[0])
    return result


def drift_of(replaced: Any, exact: Any) -> Dict[str, float]:
    """Returns |H' - H| / |H| (Frobenius) of rows [n, width], and the mean and the smallest of the cosines of h' and h.

    Rows with NaN or infinity have no cosine: "rows_not_finite" is their number.
    """
    a, b = replaced.double(), exact.double()
    norm = float(b.norm())
    error = float((a - b).norm())
    finite = (a.isfinite() & b.isfinite()).all(1)
    a, b = a[finite], b[finite]
    lengths = a.norm(dim=1) * b.norm(dim=1)
    same = (a == b).all(1).double()  # rows of zeros
    cosines = ((a * b).sum(1) / lengths.clamp_min(1e-300)).where(lengths > 0, same)
    return {"relative": error / norm if norm else (math.inf if error else 0.0),
            "cosine": float(cosines.mean()) if len(cosines) else math.nan,
            "least_cosine": float(cosines.min()) if len(cosines) else math.nan,
            "rows_not_finite": int((~finite).sum())}


def _compare_logits(exact: Any, replaced: Any, ids: List[int]) -> Dict[str, Any]:
    torch = need("torch", "Comparing outputs")
    losses: Dict[str, List[float]] = {"exact_loss": [], "loss": []}
    kl: List[float] = []
    top1: List[bool] = []
    likeliest: Dict[str, List[Any]] = {"exact_likeliest": [], "likeliest": []}
    for begin in range(0, len(ids), ROWS):
        rows = slice(begin, begin + ROWS)
        p, q = (torch.log_softmax(logits[rows].double(), -1) for logits in (exact, replaced))
        terms = p.exp() * (p - q)
        kl += terms.where(p > -math.inf, torch.zeros_like(terms)).sum(-1).clamp_min(0).tolist()  # 0 log 0 is 0
        top1 += (p.argmax(-1) == q.argmax(-1)).tolist()
        following = ids[begin + 1 : begin + 1 + ROWS]
        for name, log_p in (("exact_loss", p), ("loss", q)):
            losses[name] += [-float(log_p[i, token]) for i, token in enumerate(following)]
        for name, log_p in (("exact_likeliest", p), ("likeliest", q)):
            best = log_p.topk(min(LIKELIEST, log_p.shape[-1]), -1)
            likeliest[name] += [list(zip(tokens, chances)) for tokens, chances
                                in zip(best.indices.tolist(), best.values.exp().tolist())]
    means = {name: sum(values) / len(values) for name, values in losses.items()}
    return {**losses, **likeliest, "kl": kl, "top1": top1,
            "exact_loss_per_token": means["exact_loss"], "loss_per_token": means["loss"],
            "exact_perplexity": _exp(means["exact_loss"]), "perplexity": _exp(means["loss"]),
            "kl_mean": sum(kl) / len(kl), "kl_max": max(kl), "kl_max_at": kl.index(max(kl)),
            "top1_agreement": sum(top1) / len(top1)}


def _exp(loss: float) -> float:
    return math.exp(loss) if loss < 700 else math.inf


def _cosine(a: Any, b: Any) -> float:
    length = float(a.norm() * b.norm())
    return float(a @ b) / length if length else float((a == b).all())
