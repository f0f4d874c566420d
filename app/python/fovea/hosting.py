"""Answers the program's requests about one model, over a channel of messages.

First goes {"hello": "fovea model", "version": 1, "model": {...}}, as ReadingModel.description has it. Requests follow:

    {"id": 1, "do": "heads", "text": ..., "max_tokens": ..., "layers": ..., "heads": ...,
     "decoder_text": ..., "parts": true}    or with a tensor "picture" in place of a text
    {"id": 2, "do": "effect", "text": ..., "max_tokens": ..., "parts": [{"variant": ..., "seed": ...,
     "parameters": {...}, "where": [[3, null], [4, [0, 1]]]}]}
    {"id": 3, "do": "effect_time", ...}    as "effect"
    {"id": 4, "do": "cancel", "of": 1}

Each request but "cancel" has one last answer with its id. It is, for "heads", tensors and metadata like those of a file
of `record`, with "notes"; for "effect", the numbers of Effects.measure, with those of each token as tensors; for
"effect_time", the seconds of Effects.time; {"error": "..."}; or {"cancelled": true}. Any number of
{"id": 1, "reached": share} may come before it.

With "parts", layers may come before the last answer, as soon as the model has computed them, in messages with tensors
and metadata like those of a file that has these layers alone:

    {"id": 1, "part": 0, "of": 30, "same": {"layer1.bias": "layer0.bias"}}

"part" counts them from 0, and "of" is how many layers are expected, if the model says so. A tensor is sent once:
"same" names those that equal an earlier one. The last answer then has {"parts": count, "same": {...}}, the tensors that
are left, and the metadata of the whole, which takes the place of that of all parts; after {"error": "..."} what came
before is not the whole model. Without "parts" all layers are in the one answer, as in that of a package that does not
know "parts".
"""
from __future__ import annotations

import queue
import threading
import time
from typing import Any, Callable, Dict, Optional

from .errors import FoveaError
from .message import Channel, Gone, Message
from .reading import MOST_TOKENS, Request
from .recording import Part

VERSION = 1
BETWEEN_SHARES = 0.1  # seconds


class Stopped(BaseException):
    """Nobody waits for the answer any more. Derives from BaseException, so that no model catches it."""


def host(channel: Channel, model: Any, gone: Callable[[], None] = lambda: None) -> None:
    """Answers until the other process closes its end; requests run on this thread, one after the other.

    `model` has `description()`, `expected_layers(request)`, `heads(request)`, `effect(request, content)` and
    `effect_time(request, content)`.
    `gone` is called, on another thread, as soon as the other process has closed its end, while a request may still run.
    """
    channel.send({"hello": "fovea model", "version": VERSION, "model": model.description()})
    _Host(channel, model, gone).run()


class _Host:
    def __init__(self, channel: Channel, model: Any, gone: Callable[[], None]) -> None:
        self._channel = channel
        self._model = model
        self._gone = gone
        self._requests: "queue.Queue[Optional[Message]]" = queue.Queue()
        self._cancelled: Dict[Any, bool] = {}  # ids of requests that wait or run
        self._ended = False

    def run(self) -> None:
        threading.Thread(target=self._receive, name="fovea requests", daemon=True).start()
        while True:
            message = self._requests.get()
            if message is None or self._ended:
                return
            try:
                self._answer(message)
            except Gone:
                return

    def _receive(self) -> None:
        try:
            while True:
                message = self._channel.receive()
                if message is None:
                    break
                number = message.content.get("id")
                if not isinstance(number, int) and message.content.get("do") != "cancel":
                    break
                if message.content.get("do") == "cancel":
                    of = message.content.get("of")
                    if isinstance(of, int) and of in self._cancelled:
                        self._cancelled[of] = True
                else:
                    self._cancelled[number] = False
                    self._requests.put(message)
        except (FoveaError, OSError, ValueError):
            pass  # after what is no message none can follow
        finally:
            self._ended = True
            self._requests.put(None)
            self._gone()

    def _answer(self, message: Message) -> None:
        number = message.content.get("id")
        try:
            request = self._request(message, number)
            if message.content.get("do") == "heads":
                self._answer_heads(message, number, request)
            elif message.content.get("do") == "effect":
                numbers, arrays = self._model.effect(request, message.content)
                self._channel.send({"id": number, **numbers}, arrays)
            elif message.content.get("do") == "effect_time":
                self._channel.send({"id": number, **self._model.effect_time(request, message.content)})
            else:
                raise FoveaError(f"'{message.content.get('do')}' is no request that this package knows; expected "
                                 "heads, effect or effect_time: install the Python package of this Fovea")
        except Stopped:
            self._channel.send({"id": number, "cancelled": True})
        except Gone:
            raise
        except Exception as error:
            self._channel.send({"id": number, "error": words_of(error)})
        finally:
            self._cancelled.pop(number, None)

    def _answer_heads(self, message: Message, number: Any, request: Request) -> None:
        count = 0
        said: Dict[str, Any] = {}

        def give(part: Part) -> None:
            nonlocal count
            self._channel.send({"id": number, "part": count, **said, "same": part.same}, part.arrays, part.metadata)
            count += 1

        if message.content.get("parts") is True:
            of = self._model.expected_layers(request)
            said = {} if of is None else {"of": of}
            request = request._replace(give=give)
        heads = self._model.heads(request)
        counted = {} if request.give is None else {"parts": count, "same": heads.same}
        self._channel.send({"id": number, "notes": heads.notes, **counted}, heads.arrays, heads.metadata)

    def _request(self, message: Message, number: Any) -> Request:
        said = 0.0

        def reached(share: float) -> None:
            nonlocal said
            if self._ended or self._cancelled.get(number):
                raise Stopped
            now = time.monotonic()
            if now - said > BETWEEN_SHARES:
                said = now
                self._channel.send({"id": number, "reached": share})

        content = message.content
        reached(0.0)
        return Request(content.get("text"), message.tensors.arrays.get("picture"),
                       int(content.get("max_tokens") or MOST_TOKENS), content.get("decoder_text"),
                       content.get("layers"), content.get("heads"), reached)


def words_of(error: BaseException) -> str:
    """The message of an error of this package; others with the name of their class."""
    if isinstance(error, FoveaError):
        return str(error)
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return "there is too little memory for this model and input; use fewer tokens (--max-tokens) or a smaller model"
    return f"{type(error).__name__}: {str(error).strip() or 'without a message'}"
