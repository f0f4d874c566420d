"""Starts `fovea serve` at the first request, and asks it to compute attention for this process."""
from __future__ import annotations

import atexit
import os
import subprocess
import tempfile
import threading
from typing import Any, Dict, List, Optional

from .errors import FoveaError
from .message import Channel, Message
from .program import program
from .starting import tail

HELLO, VERSION = "fovea serve", 1
PIPE = 1 << 20  # bytes; Linux allows no more by default

_lock = threading.Lock()  # one request at a time
_server: Optional["Server"] = None
_left: List["Server"] = []  # of the parent: closing their files could wait for a thread that is not here


def ask(content: Dict[str, Any], arrays: Optional[Dict[str, Any]] = None,
        metadata: Optional[Dict[str, str]] = None) -> Message:
    """The answer to a request, such as {"do": "attend", ...}. Raises FoveaError with what the program says against it.
    """
    global _server
    with _lock:
        if _server is None or not _server.runs():
            stop()
            _server = Server()
        try:
            return _server.ask(content, arrays, metadata)
        except BaseException:
            if not _server.is_free:
                stop()
            raise


def stop() -> None:
    """Ends the process. The next request starts another one."""
    global _server
    server, _server = _server, None
    if server is not None:
        server.end()


def _end_in_fork() -> None:
    """In the child of a fork: the process belongs to its parent, and ends when that has ended."""
    global _lock, _server
    _lock = threading.Lock()  # a thread that is not here may have had it
    server, _server = _server, None
    if server is not None:
        server.let_go()
        _left.append(server)


atexit.register(stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_end_in_fork)


class Server:
    def __init__(self) -> None:
        words = [*program(), "serve"]
        self._words = " ".join(words)
        self._said = tempfile.TemporaryFile()
        try:
            # In a session of its own: Ctrl+C is for this process, which ends the other one where it has to.
            self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
                                             start_new_session=True)
        except OSError as error:
            self._said.close()
            raise FoveaError(f"{words[0]} cannot be started: {error.strerror}") from error
        assert self._process.stdin is not None and self._process.stdout is not None
        for pipe in (self._process.stdin, self._process.stdout):
            _widen(pipe.fileno())
        self._channel = Channel(self._process.stdout, self._process.stdin)
        self._last_id = 0
        self.is_free = False  # whether no request is on its way
        try:
            hello = self._receive().content
            if hello.get("hello") != HELLO or hello.get("version") != VERSION:
                raise FoveaError(f"{self._words} is of another version than this package: install both of one version")
        except BaseException:
            self.end()
            raise
        self.is_free = True

    def runs(self) -> bool:
        return self._process.poll() is None

    def ask(self, content: Dict[str, Any], arrays: Optional[Dict[str, Any]],
            metadata: Optional[Dict[str, str]]) -> Message:
        self._last_id += 1
        self.is_free = False
        try:
            self._channel.send({"id": self._last_id, **content}, arrays, metadata)
        except OSError as error:
            raise FoveaError(self._last_words()) from error
        answer = self._receive()
        self.is_free = answer.content.get("id") == self._last_id
        if "error" in answer.content:
            raise FoveaError(str(answer.content["error"]))
        if not self.is_free:
            raise FoveaError(f"{self._words} answered another request than the last: {answer.content}")
        return answer

    def end(self) -> None:
        """Kills the process, which holds nothing that could be lost."""
        self._process.kill()
        self._process.wait()
        for file in (self._process.stdout, self._said):
            file.close()  # type: ignore[union-attr]
        try:
            self._process.stdin.close()  # type: ignore[union-attr]
        except OSError:
            pass  # half a message had not been sent

    def let_go(self) -> None:
        """In a forked process, whose copies of the pipes would keep the other one alive."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        for file in (self._process.stdin, self._process.stdout, self._said):
            os.dup2(nowhere, file.fileno(), inheritable=False)  # type: ignore[union-attr]
        os.close(nowhere)
        self._process.returncode = 0  # it is no child of this process

    def _receive(self) -> Message:
        try:
            answer = self._channel.receive()
        except OSError:
            answer = None
        if answer is None:
            raise FoveaError(self._last_words())
        return answer

    def _last_words(self) -> str:
        status = self._process.wait()
        said = tail(self._said)
        how = f"was ended by signal {-status}" if status < 0 else f"ended with {status}"
        return f"{self._words} {how}" + (f": {said}" if said else "")


def _widen(pipe: int) -> None:
    """Widens a pipe, so that its ends wait less for each other."""
    import fcntl

    try:
        fcntl.fcntl(pipe, getattr(fcntl, "F_SETPIPE_SZ", 1031), PIPE)  # Python 3.9 does not name it
    except OSError:
        pass  # the user has too many wide pipes
