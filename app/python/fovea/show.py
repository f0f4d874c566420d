"""Shows heads in the window of Fovea while a program runs."""
from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
import warnings
from typing import Any, Dict, List, Optional, Sequence

from .errors import FoveaError, FoveaWarning
from .figure import program
from .link import Address, Link, Refused, address_of
from .save import call_of, write_call
from .writer import TensorBytes

START_SECONDS = 30.0  # that a window may take to start
PAUSE_SECONDS = 10.0  # after a window that did not answer in time, before it is tried again

_lock = threading.Lock()
_links: Dict[Address, Link] = {}
_steps: Dict[str, int] = {}  # of streams whose steps are counted here
_known: set = set()  # addresses where a window was
_warned: set = set()
_paused: Dict[Address, float] = {}  # until when an address is left alone
_started: List[subprocess.Popen] = []  # windows, which outlive this program


def show(q: Any, k: Any, v: Any, *, name: str = "live", step: Optional[int] = None,
         tokens: Optional[Sequence[str]] = None, address: Optional[str] = None, token: Optional[str] = None,
         start: bool = True, strict: bool = False, timeout: float = 2.0, **conditions: Any) -> bool:
    """Shows q, k and v in the window of Fovea. Returns whether the window has them.

    A training loop may call it at every step: the window follows the stream called `name`, and earlier steps can be
    looked at again. `step` is a whole number; without it calls are counted from 0. A step that does not come after
    the last one begins the stream anew from there. q, k, v, `tokens` and the other arguments are as in `fovea.save`.

    The first call connects to the window that runs, or starts one (`start`): $FOVEA, or `fovea` on the PATH. Later
    calls use the same connection. `address` is "unix:PATH", or "tcp:127.0.0.1:PORT" with the `token` of a window that
    was started with --listen; else $FOVEA_ADDRESS and $FOVEA_TOKEN. No call takes longer than `timeout` seconds, but
    for the start of a window.

    Raises FoveaError for arrays that do not fit or that the window refuses, and where no window was found at first.
    A window that is closed later, or does not answer, is no error: a FoveaWarning says so once, the call returns
    False, and a window that is opened again gets the next step. With `strict` that raises FoveaError too.
    """
    where = address_of(address, token)
    if not name or len(name.encode()) > 200:
        raise FoveaError("name is empty or too long; expected the name of a stream, of at most 200 bytes")
    if step is not None and int(step) < 0:
        raise FoveaError(f"step is {step}; expected a whole number from 0")
    call = call_of(q, k, v, tokens=tokens, **conditions)
    call.check()
    with _lock:
        number = _steps.get(name, -1) + 1 if step is None else int(step)
        _steps[name] = number
        if _paused.get(where, 0) > time.monotonic() and not strict:
            return False
        content = TensorBytes()
        pieces = content.pieces(write_call(content, call, None, name, number))
        return _send(where, pieces, name, start and not (address or os.environ.get("FOVEA_ADDRESS")), strict, timeout)


def _send(where: Address, pieces: List[Any], name: str, start: bool, strict: bool, timeout: float) -> bool:
    link = _links.get(where)
    if link is not None and link.process != os.getpid():  # of the process before a fork
        _drop(where)
        link = None
    try:
        if link is not None:
            try:
                link.send(pieces, timeout)
                return True
            except (BrokenPipeError, ConnectionResetError):
                _drop(where)  # the window was closed; another one may run
        _links[where] = _connect(where, name, start and where not in _known, timeout)
        _known.add(where)
        _links[where].send(pieces, timeout)
        _warned.discard(where)
        return True
    except Refused:
        _drop(where)
        raise
    except OSError as error:
        _drop(where)
        timed_out = isinstance(error, TimeoutError) or "timed out" in str(error)
        if timed_out:
            _paused[where] = time.monotonic() + PAUSE_SECONDS
        message = (f"the window at {where} did not answer within {timeout:g} s" if timed_out
                   else f"no window is at {where} ({error.strerror or error})")
        if strict or where not in _known:
            raise FoveaError(f"{message}: start fovea, or call with another address") from error
        if where not in _warned:
            _warned.add(where)
            warnings.warn(f"{message}; nothing is shown until there is one again", FoveaWarning, stacklevel=3)
        return False


def _drop(where: Address) -> None:
    link = _links.pop(where, None)
    if link is not None:
        link.close()


def _connect(where: Address, name: str, start: bool, timeout: float) -> Link:
    try:
        return Link(where, timeout)
    except (FileNotFoundError, ConnectionRefusedError):
        if not start:
            raise
    return _start(where, name, timeout)


def _start(where: Address, name: str, timeout: float) -> Link:
    """Starts the program, which outlives this one, and waits until it listens."""
    words = [*program(), f"live:{name}"]
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                                       start_new_session=True)
        except OSError as error:
            raise FoveaError(f"{words[0]} cannot be started: {error.strerror}") from error
        _started.append(process)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            try:
                return Link(where, timeout)
            except (FileNotFoundError, ConnectionRefusedError):
                pass
            if process.poll() is not None:
                said.seek(0)
                message = said.read().decode("utf-8", "replace").strip()
                raise FoveaError(f"no window can be started: {message or f'{words[0]} ended with {process.returncode}'}. "
                                 "On a machine without a screen, send to a window elsewhere: see address=")
            time.sleep(0.02)
    raise FoveaError(f"{' '.join(words)} was started and does not listen at {where}")
