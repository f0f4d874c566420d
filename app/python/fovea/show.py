"""Shows heads in the window of Fovea while a program runs."""
from __future__ import annotations

import os
import socket
import threading
import time
import warnings
from typing import Any, Dict, List, Mapping, Optional, Tuple

from .errors import FoveaError, FoveaWarning
from .link import Address, Busy, Link, TooSlow, address_of
from .save import call_of, write_call
from .starting import started_link
from .writer import TensorBytes

PAUSE_SECONDS = 10.0  # after a window that did not answer in time, before it is tried again

_lock = threading.Lock()
_links: Dict[Address, Link] = {}
_steps: Dict[str, int] = {}  # of streams whose steps are counted here
_missed: Dict[str, int] = {}  # calls since then that did not get the lock in time
_known: set = set()  # addresses where a window was
_warned: set = set()
_paused: Dict[Address, float] = {}  # until when an address is left alone


def show(q: Any, k: Any, v: Any, *, name: str = "live", step: Optional[int] = None, tokens: Any = None,
         key_tokens: Any = None, scale: Optional[float] = None, causal: Optional[bool] = None,
         window: Optional[int] = None, softcap: Optional[float] = None, z: Any = None, z_runs: Any = None,
         mask: Any = None, bias: Any = None, alibi: Any = None, sinks: Any = None, segments: Any = None,
         beta: Any = None, log_decay: Any = None, recurrence: Optional[str] = None, kept: Any = None,
         indices: Any = None, block_indices: Any = None, block_size: Any = None, k_extra: Any = None,
         v_extra: Any = None, extra_tokens: Any = None, extra_indices: Any = None,
         gradients: Optional[Mapping[str, Any]] = None, model: Optional[str] = None, address: Optional[str] = None,
         token: Optional[str] = None, start: bool = True, strict: bool = False, timeout: float = 2.0) -> bool:
    """Shows q, k and v in the window of Fovea. Returns whether the window has them.

    A training loop may call it at every step: the window follows the stream called `name`, and earlier steps can be
    looked at again. `step` is a whole number; without it calls are counted from 0. A step that does not come after
    the last one drops the kept steps from that number on: give each program a `name` of its own. q, k, v, `tokens`
    to `model` are as in `fovea.save`.

    The first call connects to the window that runs, or starts one (`start`): $FOVEA, or `fovea` on the PATH. Later
    calls use the same connection. `address` is "unix:PATH", or "tcp:HOST:PORT" with the `token` of a window that was
    started with --listen; else $FOVEA_ADDRESS and $FOVEA_TOKEN. No call waits longer than `timeout` seconds, but the
    first ones for a window that starts, 30 s together.

    Raises FoveaError for arrays that do not fit or that the window refuses, and where no window was found at first.
    A window that is closed later, does not answer, or serves as many programs as it can, is no error: a FoveaWarning
    says so once, the call returns False, and a window that is opened again gets the next step. With `strict` that
    raises FoveaError too.
    """
    where = address_of(address, token)
    if not name or len(name.encode()) > 200:
        raise FoveaError("name is empty or too long; expected the name of a stream, of at most 200 bytes")
    if step is not None and int(step) < 0:
        raise FoveaError(f"step is {step}; expected a whole number from 0")
    call = call_of(q, k, v, tokens=tokens, key_tokens=key_tokens, scale=scale, causal=causal, window=window,
                   softcap=softcap, z=z, z_runs=z_runs, mask=mask, bias=bias, alibi=alibi, sinks=sinks,
                   segments=segments, beta=beta, log_decay=log_decay, recurrence=recurrence, kept=kept, indices=indices,
                   block_indices=block_indices, block_size=block_size, k_extra=k_extra, v_extra=v_extra,
                   extra_tokens=extra_tokens, extra_indices=extra_indices, gradients=gradients, model=model)
    call.check()
    deadline = time.monotonic() + timeout
    lock = _lock
    if not lock.acquire(timeout=max(0.0, timeout)):
        _missed[name] = _missed.get(name, 0) + 1
        return _not_shown(where, f"another thread did not finish sending to the window at {where} within {timeout:g} s",
                          "this step is not shown", strict)
    try:
        missed = _missed.pop(name, 0)
        number = _steps.get(name, -1) + missed + 1 if step is None else int(step)
        _steps[name] = number
        if _paused.get(where, 0) > time.monotonic() and not strict:
            return False
        begin = time.monotonic()
        content = TensorBytes()
        pieces = content.pieces(write_call(content, call, None, name, number))
        deadline += time.monotonic() - begin  # `timeout` is for the window, and not for the arrays
        may_start = start and not (address or os.environ.get("FOVEA_ADDRESS")) and where not in _known
        return _send(where, pieces, name, may_start, strict, deadline, timeout)
    finally:
        lock.release()


def _send(where: Address, pieces: List[Any], name: str, start: bool, strict: bool, deadline: float,
          timeout: float) -> bool:
    link = _links.get(where)
    if link is not None and link.process != os.getpid():  # of the process before a fork
        _drop(where)
        link = None
    try:
        if link is not None:
            try:
                link.send(pieces, deadline)
                _warned.discard(where)
                return True
            except (BrokenPipeError, ConnectionResetError):
                _drop(where)  # the window was closed; another one may run
        _links[where], deadline = _connect(where, name, start, deadline, timeout)
        _known.add(where)
        _links[where].send(pieces, deadline)
        _warned.discard(where)
        return True
    except Busy as error:
        _drop(where)
        return _not_shown(where, str(error), "nothing is shown until it serves fewer", strict, error)
    except OSError as error:
        _drop(where)
        if isinstance(error, (TooSlow, socket.timeout, TimeoutError)):
            _paused[where] = time.monotonic() + PAUSE_SECONDS
        if isinstance(error, TooSlow):
            size = sum(memoryview(piece).nbytes for piece in pieces)
            message = (f"sending {max(1, round(size / 1e6))} MB to {where} took longer than {timeout:g} s: pass a "
                       "larger timeout=, or send fewer heads or tokens")
            return _not_shown(where, message, "this step is not shown", strict, error)
        if isinstance(error, (socket.timeout, TimeoutError)):
            message = f"the window at {where} did not answer within {timeout:g} s"
        else:
            message = f"no window is at {where} ({error.strerror or error})"
        was_there = where in _known or isinstance(error, (ConnectionResetError, BrokenPipeError))  # it hung up
        if strict or not was_there:
            raise FoveaError(f"{message}: start fovea, or call with another address") from error
        return _not_shown(where, message, "nothing is shown until there is one again", strict, error)
    except BaseException:  # refused, or interrupted in the middle of a step
        _drop(where)
        raise


def _not_shown(where: Address, message: str, then: str, strict: bool, error: Optional[Exception] = None) -> bool:
    """Says so once, or raises FoveaError."""
    if strict:
        raise FoveaError(message) from error
    if where not in _warned:
        _warned.add(where)
        warnings.warn(f"{message}; {then}", FoveaWarning, stacklevel=4 if error else 3)
    return False


def _drop(where: Address) -> None:
    link = _links.pop(where, None)
    if link is not None:
        link.close()


def _connect(where: Address, name: str, start: bool, deadline: float, timeout: float) -> Tuple[Link, float]:
    """The connection, and the deadline of what is sent: a window that was started has its own time to answer."""
    try:
        return Link(where, deadline), deadline
    except (FileNotFoundError, ConnectionRefusedError):
        if not start:
            raise
    return started_link(where, name, timeout, deadline), time.monotonic() + timeout


def _after_fork() -> None:
    """In the child another thread may have held the lock, and does not run."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
