"""Opens the window of Fovea on a model in this process: a notebook, a debugger, a training script."""
from __future__ import annotations

import atexit
import os
import re
import secrets
import socket
import threading
import time
import warnings
from typing import Any, Dict, List, Optional
from urllib.parse import quote

from .errors import FoveaError, FoveaWarning
from .hosted import HostedModel
from .hosting import host, words_of
from .link import user_of
from .message import Channel
from .reading import Heads, Request
from .starting import own_folder
from .window import open as open_window

SENTENCE = "The quick brown fox jumps over the lazy dog."
LONGEST_NAME = 40  # the path of a socket has a limit of some 100 bytes
PAUSE_SECONDS = 0.1  # after a window that could not be served


def look(model: Any, reader: Any, text: Optional[str] = None, *, picture: "None | str | os.PathLike[str]" = None,
         name: Optional[str] = None, window: bool = True) -> "Looking":
    """Opens a window on `model` as it is now, with its fine-tuned weights, hooks and adapters, and returns.

        fovea.look(model, tokenizer)

    `reader` is the tokenizer or processor that makes the model's input. The window shows the heads while the model
    reads `text` or `picture`, a path of an image; type another text there, or drop one. The model runs in a thread of
    this process, without gradients, whenever the window asks; it is not copied, so what you do to it shows at the next
    text. The window can ask until `close()` of the result is called, its with block ends, or this process ends. With
    window=False none is opened: give `address` to one. Raises FoveaError.
    """
    tokenizer = reader if hasattr(reader, "convert_ids_to_tokens") else None
    reading = HostedModel(model, tokenizer, None if tokenizer is not None else reader, name or "")
    if tokenizer is None and picture is None and reading.tokenizer is None:
        raise FoveaError("a model of images needs an image to begin with: pass picture=PATH")
    if text is not None and picture is not None:
        raise FoveaError("text and picture were given; expected one of them")
    if picture is not None and not os.path.exists(picture):
        raise FoveaError(f"{os.fspath(picture)} does not exist; expected an image")
    looking = Looking(reading)
    looking.address = looking.address_of(text or SENTENCE, picture)
    if window:
        try:
            open_window(looking.address)
        except BaseException:
            looking.close()
            raise
    return looking


class Looking:
    """A model that windows can ask, as long as it is not closed."""

    address = ""  # what `fovea` opens

    def __init__(self, model: HostedModel) -> None:
        self._model = model
        self._turn = threading.Lock()  # one window after the other
        self._process = os.getpid()
        self._connections: List[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        plain = re.sub(r"[^\w.-]", "-", model.name.split("/")[-1], flags=re.ASCII)[:LONGEST_NAME]
        self.name = f"{plain or 'model'}.{os.getpid()}-{secrets.token_hex(4)}"
        self._path = os.path.join(own_folder(), f"look-{self.name}.sock")
        try:
            self._listener.bind(self._path)
            self._listener.listen()
        except OSError as error:
            self._listener.close()
            raise FoveaError(f"{self._path} cannot be listened on: {error.strerror or error}") from error
        threading.Thread(target=self._accept, name="fovea look", daemon=True).start()
        atexit.register(self.close)

    def address_of(self, text: str = SENTENCE, picture: "None | str | os.PathLike[str]" = None) -> str:
        """What `fovea` opens to see the model read something."""
        what = f"text={quote(text, safe='')}" if picture is None else \
            f"input={quote(os.path.abspath(os.fspath(picture)), safe='/')}"
        return f"model:look:{self.name}?{what}"

    def description(self) -> Any:
        return self._model.description()

    def expected_layers(self, request: Request) -> Optional[int]:
        return self._model.expected_layers(request)

    def heads(self, request: Request) -> Heads:
        with self._turn:
            return self._model.heads(request)

    def effect(self, request: Request, content: Dict[str, Any]) -> Any:
        with self._turn:
            return self._model.effect(request, content)

    def effect_time(self, request: Request, content: Dict[str, Any]) -> Any:
        with self._turn:
            return self._model.effect_time(request, content)

    def close(self) -> None:
        """From now on no window can ask the model."""
        atexit.unregister(self.close)
        if self._process != os.getpid() or not self._path:  # a forked process has copies of the sockets
            return
        path, self._path = self._path, ""
        for connection in [self._listener, *self._connections]:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has gone already
            connection.close()
        try:
            os.unlink(path)
        except OSError:
            pass

    def __enter__(self) -> "Looking":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                if not self._path:
                    return  # closed
                time.sleep(PAUSE_SECONDS)  # as with too many open files
                continue
            if user_of(connection) != os.getuid():
                connection.close()
                continue
            self._connections = [one for one in self._connections if one.fileno() >= 0] + [connection]
            threading.Thread(target=self._answer, args=(connection,), name="fovea look", daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as reader, connection.makefile("wb") as writer:
                try:
                    host(Channel(reader, writer), self)
                finally:
                    connection.shutdown(socket.SHUT_RDWR)  # or closing would wait for the thread that reads
        except OSError:
            pass  # the window has gone
        except Exception as error:
            warnings.warn(f"a window can no longer ask the model: {words_of(error)}", FoveaWarning)
