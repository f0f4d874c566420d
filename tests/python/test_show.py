"""fovea.show, with a stand-in for the window."""
import json
import os
import pathlib
import socket
import stat
import struct
import sys
import threading
import time
import unittest
import warnings
from unittest import mock

from package import InFolder, needs

PROGRAM = """#!{python}
import json, os, socket, struct, sys
if "refuse" in os.environ.get("MODE", ""):
    print("fovea: no screen is named", file=sys.stderr)
    sys.exit(4)
sys.path.insert(0, {tests!r})
from test_show import StandIn
folder = os.environ["XDG_RUNTIME_DIR"] + "/fovea"
os.makedirs(folder, mode=0o700, exist_ok=True)
window = StandIn(folder + "/live.sock")
while not window.frames:
    window.wait(0.05)
open(folder + "/words", "w").write(json.dumps(sys.argv[1:]))
window.close()
"""


class StandIn:
    """Listens like a window: keeps greetings and frames, and answers with `answer`."""

    def __init__(self, path="", silent=False):
        self.frames, self.greetings = [], []
        self.silent = silent
        self.answer = None  # of the next frames; None: they are taken
        self.most_bytes = 1 << 30
        self._arrived = threading.Condition()
        self._open = []
        self._server = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        self._server.bind(path or ("127.0.0.1", 0))
        self.port = 0 if path else self._server.getsockname()[1]
        self._server.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def wait(self, seconds):
        with self._arrived:
            self._arrived.wait(seconds)

    def close(self):
        for each in [self._server, *self._open]:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        try:
            with connection.makefile("rb") as file:
                magic, version, length = struct.unpack("<8sII", file.read(16))
                self.greetings.append((magic, version, file.read(length).decode()))
                self._say(connection, {"version": version, "most_bytes": self.most_bytes})
                while head := file.read(8):
                    frame = file.read(struct.unpack("<Q", head)[0])
                    with self._arrived:
                        self.frames.append(frame)
                        self._arrived.notify()
                    self._say(connection, self.answer or {"step": len(self.frames) - 1})
        except (OSError, ValueError, struct.error):
            pass

    def _say(self, connection, answer):
        if self.silent:
            return
        text = json.dumps(answer).encode()
        connection.sendall(struct.pack("<Q", len(text)) + text)


def metadata_of(frame):
    header = json.loads(frame[8:8 + struct.unpack("<Q", frame[:8])[0]])
    return header["__metadata__"]


@needs("numpy")
class Show(InFolder):
    def setUp(self):
        super().setUp()
        import numpy

        import fovea

        self.fovea = fovea
        self.q = numpy.arange(24, dtype="f4").reshape(2, 4, 3)
        self.folder.joinpath("fovea").mkdir(mode=0o700)
        environment = {"XDG_RUNTIME_DIR": str(self.folder), "FOVEA_ADDRESS": "", "FOVEA_TOKEN": "",
                       "FOVEA": str(self.folder / "nowhere")}
        patch = mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)

    def window(self, **more):
        window = StandIn(str(self.folder / "fovea" / "live.sock"), **more)
        self.addCleanup(window.close)
        return window

    def closed(self, window):
        window.close()
        os.unlink(self.folder / "fovea" / "live.sock")

    def show(self, name="live", **more):
        return self.fovea.show(self.q, self.q, self.q, name=name, **more)

    def test_sends_what_save_writes(self):
        window = self.window()
        self.assertTrue(self.show("same", causal=True, tokens=list("abcd"), scale=0.5))
        self.fovea.save(self.path(), self.q, self.q, self.q, stream="same", step=0, causal=True, tokens=list("abcd"),
                        scale=0.5)
        self.assertEqual(window.frames, [self.path().read_bytes()])
        self.assertEqual(window.greetings, [(b"fovealnk", 1, "")])

    @needs("torch")
    def test_takes_tensors_of_pytorch(self):
        import torch

        window = self.window()
        q = torch.ones(1, 2, 4, 3, dtype=torch.bfloat16, requires_grad=True)
        self.assertTrue(self.fovea.show(q, q, q, name="torch"))
        self.fovea.save(self.path(), q, q, q, stream="torch", step=0)
        self.assertEqual(window.frames, [self.path().read_bytes()])

    def test_steps_are_counted_or_said(self):
        window = self.window()
        for step in (None, None, 7, None, 2):
            self.show("counted", step=step)
        self.assertEqual([metadata_of(frame)["step"] for frame in window.frames], ["0", "1", "7", "8", "2"])
        self.assertEqual(len(window.greetings), 1)

    def test_more_keys_than_queries(self):
        window = self.window()
        self.assertTrue(self.fovea.show(self.q[:, :1], self.q, self.q, name="unequal"))
        self.assertEqual(len(window.frames), 1)

    def test_nothing_is_sent_of_what_does_not_fit(self):
        window = self.window()
        for arguments in ({"tokens": ["a"]}, {"name": ""}, {"name": "é" * 101}, {"step": -1}):
            with self.subTest(arguments), self.assertRaises(self.fovea.FoveaError):
                self.show(**arguments)
        with self.assertRaises(self.fovea.FoveaError):
            self.fovea.show(self.q, self.q[:, :, :2], self.q)
        self.assertEqual(window.frames, [])

    def test_what_the_window_refuses_is_an_error_in_its_words(self):
        window = self.window()
        window.answer = {"error": "what was sent: has no keys"}
        with self.assertRaisesRegex(self.fovea.FoveaError, "has no keys"):
            self.show("refused")
        window.answer = None
        self.assertTrue(self.show("refused"))

    def test_a_step_beyond_the_limit_is_not_sent(self):
        window = self.window()
        window.most_bytes = 100
        with self.assertRaisesRegex(self.fovea.FoveaError, "at most 100: send fewer"):
            self.show("large")
        self.assertEqual(window.frames, [])

    def test_no_window_at_first_is_an_error(self):
        with self.assertRaisesRegex(self.fovea.FoveaError, "no window is at unix:.*start fovea"):
            self.show("nowhere", start=False)

    def test_a_window_that_is_closed_ends_nothing(self):
        first = self.window()
        self.assertTrue(self.show("closed"))
        self.closed(first)
        with self.assertWarnsRegex(self.fovea.FoveaWarning, "nothing is shown until"):
            self.assertFalse(self.show("closed"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertFalse(self.show("closed"))
        with self.assertRaises(self.fovea.FoveaError):
            self.show("closed", strict=True)
        second = self.window()
        self.assertTrue(self.show("closed"))
        self.assertEqual(metadata_of(second.frames[0])["step"], "4")
        self.closed(second)
        with self.assertWarns(self.fovea.FoveaWarning):  # it is news again
            self.assertFalse(self.show("closed"))

    def test_a_window_that_does_not_answer_costs_its_time_once(self):
        self.window(silent=True)
        begin = time.monotonic()
        with self.assertRaisesRegex(self.fovea.FoveaError, "did not answer within 0.3 s"):
            self.show("silent", timeout=0.3)
        self.assertLess(time.monotonic() - begin, 3)
        begin = time.monotonic()
        for _ in range(100):
            self.assertFalse(self.show("silent", timeout=0.3))
        self.assertLess(time.monotonic() - begin, 3)

    def test_tcp_needs_the_token(self):
        window = StandIn()
        self.addCleanup(window.close)
        where = f"tcp:127.0.0.1:{window.port}"
        with self.assertRaisesRegex(self.fovea.FoveaError, "needs a token"):
            self.show("tcp", address=where)
        self.assertTrue(self.show("tcp", address=where, token="secret\n"))
        with mock.patch.dict(os.environ, FOVEA_ADDRESS=where, FOVEA_TOKEN="secret"):
            self.assertTrue(self.show("tcp"))
        self.assertEqual(window.greetings[0], (b"fovealnk", 1, "secret"))
        for wrong in ("", "tcp:", "tcp:host", "tcp:host:0", "tcp:host:99999", "unix:", "elsewhere"):
            with self.subTest(wrong), self.assertRaises(self.fovea.FoveaError):
                self.show("tcp", address=wrong or "x", token="secret")

    def test_what_is_no_socket_of_this_user_is_left_alone(self):
        self.folder.joinpath("fovea", "live.sock").write_text("a file")
        with self.assertRaisesRegex(self.fovea.FoveaError, "not a socket of this user"):
            self.show("file", start=False)

    def test_what_is_no_window_is_said_so(self):
        window = self.window()
        with mock.patch.object(StandIn, "_say", lambda _, connection, answer: connection.sendall(b"HTTP/1.1 400 Bad")):
            with self.assertRaisesRegex(self.fovea.FoveaError, "does not answer like a window"):
                self.show("other")
        self.assertEqual(window.frames, [])

    def program(self):
        path = self.folder / "bin" / "fovea"
        path.parent.mkdir()
        path.write_text(PROGRAM.format(python=sys.executable, tests=str(pathlib.Path(__file__).parent)))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def test_starts_a_window_that_waits_for_the_stream(self):
        with mock.patch.dict(os.environ, FOVEA=self.program()):
            self.assertTrue(self.show("started"))
        words = self.folder / "fovea" / "words"
        end = time.monotonic() + 10
        while not (words.exists() and words.read_text()) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual(json.loads(words.read_text()), ["live:started"])

    def test_a_window_that_cannot_start_says_why(self):
        with mock.patch.dict(os.environ, FOVEA=self.program(), MODE="refuse"):
            with self.assertRaisesRegex(self.fovea.FoveaError, "no screen is named"):
                self.show("unstarted")
        with mock.patch.dict(os.environ, FOVEA="/nowhere/fovea"):
            with self.assertRaisesRegex(self.fovea.FoveaError, "cannot be started"):
                self.show("unstarted")

    def test_a_given_address_starts_nothing(self):
        with mock.patch.dict(os.environ, FOVEA=self.program()):
            with self.assertRaisesRegex(self.fovea.FoveaError, "no window is at"):
                self.show("given", address=f"unix:{self.folder}/other.sock")

    def test_after_a_fork_the_child_has_a_connection_of_its_own(self):
        window = self.window()
        self.assertTrue(self.show("forked"))
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if self.show("forked") else 1)
            finally:
                os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(self.show("forked"))
        self.assertEqual(len(window.greetings), 2)
        self.assertEqual(len(window.frames), 3)


if __name__ == "__main__":
    unittest.main()
