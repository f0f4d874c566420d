"""fovea.show, with a stand-in for the window."""
import fcntl
import json
import os
import pathlib
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
import unittest
import warnings
from unittest import mock

from package import ROOT, InFolder, needs
from stand_in import StandIn

PROGRAM = """#!{python}
import fcntl, json, os, sys, time
mode = os.environ.get("MODE", "")
folder = os.environ["XDG_RUNTIME_DIR"] + "/fovea"
starts = open(os.environ["XDG_RUNTIME_DIR"] + "/starts", "a")
fcntl.flock(starts, fcntl.LOCK_SH)  # until it ends
print("started", file=starts, flush=True)
if "refuse" in mode:
    print("fovea: no screen is named", file=sys.stderr)
    sys.exit(4)
if "slow" in mode:
    print("building", flush=True)
    print("one of two", file=sys.stderr, flush=True)
    time.sleep(2)
sys.path.insert(0, {tests!r})
from stand_in import StandIn
os.makedirs(folder, mode=0o700, exist_ok=True)
window = StandIn(folder + "/live.sock")
end = time.monotonic() + 20
while time.monotonic() < end and window.answered < int(os.environ.get("FRAMES", 1)):
    window.wait(0.05)
open(folder + "/words", "w").write(json.dumps(sys.argv[1:]))
window.close()
"""

CALLER = """
import sys, time
sys.path[:0] = [{tests!r}, {package!r}]
import fovea, numpy
starting = sys.modules.get("fovea.starting") or sys.modules["fovea.show"]
starting.START_SECONDS = float(sys.argv[1])
q = numpy.ones((1, 2, 3), "f4")
end = time.monotonic() + 15
while time.monotonic() < end:
    try:
        sys.exit(0 if fovea.show(q, q, q, name="rank") else 1)
    except fovea.FoveaError as error:
        if "give up" in sys.argv:
            sys.exit(3)
sys.exit(2)
"""


def metadata_of(frame):
    header = json.loads(frame[8:8 + struct.unpack("<Q", frame[:8])[0]])
    return header["__metadata__"]


@needs("numpy")
class Show(InFolder):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.wait_for_programs)  # before the folder is removed
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

    def test_sends_gates_and_gradients(self):
        window, beta = self.window(), abs(self.q[..., 0])
        given = dict(beta=beta[None], log_decay=-abs(self.q)[None], gradients={"dz": self.q, "dq": 2 * self.q})
        self.assertTrue(self.show("gates", **given))
        self.fovea.save(self.path(), self.q, self.q, self.q, stream="gates", step=0, **given)
        self.assertEqual(window.frames, [self.path().read_bytes()])
        self.assertEqual(self.fovea.read(self.path()).arrays["layer0.beta"].shape, (2, 4))

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

    def wait_for_programs(self):
        path = self.folder / "starts"
        if path.exists():
            with path.open() as file:
                fcntl.flock(file, fcntl.LOCK_EX)

    def starts(self):
        path = self.folder / "starts"
        return len(path.read_text().split()) if path.exists() else 0

    def waits_for_starts(self, seconds):
        show = sys.modules["fovea.show"]
        patch = mock.patch.object(sys.modules.get("fovea.starting", show), "START_SECONDS", seconds)
        patch.start()
        self.addCleanup(patch.stop)

    def callers(self, count, *words):
        code = CALLER.format(tests=str(pathlib.Path(__file__).parent), package=str(ROOT / "app" / "python"))
        return [subprocess.Popen([sys.executable, "-W", "ignore", "-c", code, *words]) for _ in range(count)]

    def test_a_window_that_takes_long_to_start_is_started_once(self):
        self.waits_for_starts(1)
        with mock.patch.dict(os.environ, FOVEA=self.program(), MODE="slow"):
            with self.assertRaisesRegex(self.fovea.FoveaError, "does not listen at .* yet(.|\n)*building\none of two"):
                self.show("slow", timeout=0.1)
            begin = time.monotonic()
            with self.assertRaisesRegex(self.fovea.FoveaError, "does not listen at .* yet"):
                self.show("slow", timeout=0.1)
            self.assertLess(time.monotonic() - begin, 0.8)
            self.assertTrue(self.show("slow", timeout=10))
        self.assertEqual(self.starts(), 1)

    def test_many_processes_start_one_window(self):
        with mock.patch.dict(os.environ, FOVEA=self.program(), MODE="slow", FRAMES="4"):
            callers = self.callers(4, "30")
            self.assertEqual([caller.wait() for caller in callers], [0] * 4)
        self.assertEqual(self.starts(), 1)

    def test_a_window_that_a_process_started_which_has_ended_is_waited_for(self):
        with mock.patch.dict(os.environ, FOVEA=self.program(), MODE="slow"):
            self.assertEqual(self.callers(1, "0.5", "give up")[0].wait(), 3)
            self.assertEqual(self.callers(1, "30")[0].wait(), 0)
        self.assertEqual(self.starts(), 1)

    def test_a_window_that_ended_is_started_again(self):
        with mock.patch.dict(os.environ, FOVEA=self.program(), MODE="refuse"):
            for _ in range(2):
                with self.assertRaisesRegex(self.fovea.FoveaError, "no screen is named"):
                    self.show("again")
        self.assertEqual(self.starts(), 2)

    def test_a_window_is_started_in_a_folder_of_its_own(self):
        folder = self.folder / "fovea"
        folder.rmdir()
        with mock.patch.dict(os.environ, FOVEA=self.program()):
            self.assertTrue(self.show("folder"))
        while not (folder / "words").exists():  # the last that it writes
            time.sleep(0.01)
        self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700)

    def test_no_window_is_started_in_a_folder_of_others(self):
        self.folder.joinpath("fovea").chmod(0o755)
        with mock.patch.dict(os.environ, FOVEA=self.program()):
            with self.assertRaisesRegex(self.fovea.FoveaError, "nobody else can enter"):
                self.show("entered")
        self.assertEqual(self.starts(), 0)

    def test_one_deadline_for_a_connection_that_is_gone_and_the_next(self):
        window = self.window()
        self.assertTrue(self.show("deadline"))
        window.delay, window.hangs_up = 2.4, True
        begin = time.monotonic()
        with self.assertWarnsRegex(self.fovea.FoveaWarning, "did not answer within 4 s"):
            self.assertFalse(self.show("deadline", timeout=4))
        self.assertLess(time.monotonic() - begin, 4.6)  # with a deadline for each it would take 2.4 + 4

    def test_a_call_waits_no_longer_than_its_time_for_another_thread(self):
        window = self.window()
        self.assertTrue(self.show("threads"))
        window.delay = 2
        other = threading.Thread(target=self.show, args=["threads"], kwargs={"timeout": 10})
        other.start()
        self.addCleanup(other.join)
        while len(window.frames) < 2:
            time.sleep(0.01)
        begin = time.monotonic()
        with self.assertWarnsRegex(self.fovea.FoveaWarning, "another thread did not finish .* within 0.2 s") as warned:
            self.assertFalse(self.show("threads", timeout=0.2))
        self.assertEqual(warned.filename, __file__)
        with self.assertRaisesRegex(self.fovea.FoveaError, "another thread"):
            self.show("threads", timeout=0.2, strict=True)
        self.assertLess(time.monotonic() - begin, 1.5)
        other.join()
        window.delay = 0
        self.assertTrue(self.show("threads"))
        self.assertEqual([metadata_of(frame)["step"] for frame in window.frames], ["0", "1", "4"])
        self.closed(window)
        with self.assertWarnsRegex(self.fovea.FoveaWarning, "no window is at"):  # it is news
            self.assertFalse(self.show("threads"))

    def test_a_call_that_is_interrupted_leaves_no_half_step(self):
        window = self.window()
        self.assertTrue(self.show("interrupted"))
        link = sys.modules["fovea.link"].Link
        with mock.patch.object(link, "_answer", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            self.show("interrupted")
        self.assertTrue(self.show("interrupted"))
        self.assertEqual(len(window.greetings), 2)

    def large(self, **more):
        import numpy

        q = numpy.zeros((1, 1000, 1000), "f4")
        return self.fovea.show(q, q, q, **more)

    def test_a_step_that_is_sent_too_slowly_is_told_from_a_window_that_does_not_answer(self):
        window = self.window()
        window.pace = 1 << 16
        words = "sending 12 MB to unix:.*took longer than 0.3 s: pass a larger timeout=, or send fewer heads or tokens"
        with self.assertWarnsRegex(self.fovea.FoveaWarning, words) as warned:
            self.assertFalse(self.large(name="large", timeout=0.3))
        self.assertNotIn("until there is one again", str(warned.warning))
        with self.assertRaisesRegex(self.fovea.FoveaError, "took longer"):
            self.large(name="large", timeout=0.3, strict=True)
        self.assertTrue(self.large(name="large", timeout=30, strict=True))

    def test_a_window_that_reads_nothing_does_not_answer(self):
        window = self.window()
        window.pace = 0
        with self.assertWarnsRegex(self.fovea.FoveaWarning, "did not answer within 0.3 s"):
            self.assertFalse(self.large(name="stuck", timeout=0.3))

    def test_a_window_that_turns_programs_away_says_why(self):
        window = self.window()
        window.turns_away = "32 programs are connected already"
        for _ in range(20):  # the window may close before the greeting is sent, or after
            with self.assertRaisesRegex(self.fovea.FoveaError, "^32 programs are connected already$"):
                self.show("turned away", strict=True)

    def test_a_window_that_is_busy_ends_no_program(self):
        window = self.window()
        window.turns_away = "32 programs are connected already"
        with self.assertWarnsRegex(self.fovea.FoveaWarning, "^32 programs are connected already; nothing is shown"):
            self.assertFalse(self.show("busy"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertFalse(self.show("busy"))
        window.turns_away = ""
        self.assertTrue(self.show("busy"))

    def test_a_busy_window_that_was_never_seen_ends_no_program(self):
        self.window().hangs_up_at_once = True
        with self.assertWarnsRegex(self.fovea.FoveaWarning, "no window is at"):
            self.assertFalse(self.show("hangs up", start=False))

    def test_the_words_of_a_window_that_has_closed_already_are_read(self):
        window = self.window()
        link = sys.modules["fovea.link"]
        window.turns_away = "32 programs are connected already"
        connected = link._connected

        def later(*arguments):
            connection = connected(*arguments)
            time.sleep(0.2)
            return connection

        with mock.patch.object(link, "_connected", later):
            with self.assertRaisesRegex(self.fovea.FoveaError, "^32 programs are connected already$"):
                self.show("turned away", strict=True)

    def test_a_socket_that_another_user_listens_on_is_left_alone(self):
        window = self.window()
        taken = socket.socket.getsockopt

        def as_another(connection, level, option, *size):
            if option != socket.SO_PEERCRED:
                return taken(connection, level, option, *size)
            return struct.pack("iII", 1, os.getuid() + 1, 0)

        with mock.patch.object(socket.socket, "getsockopt", as_another):
            with self.assertRaisesRegex(self.fovea.FoveaError, "listened on by another user"):
                self.show("another")
        self.assertEqual(window.greetings, [])

    def test_all_keywords_are_named(self):
        import inspect

        named = inspect.signature(self.fovea.show).parameters
        saved = set(inspect.signature(self.fovea.save).parameters) - {"path", "stream"}
        self.assertEqual(saved - set(named), set())
        self.assertNotIn(inspect.Parameter.VAR_KEYWORD, {each.kind for each in named.values()})
        window = self.window()
        self.assertTrue(self.show("named", key_tokens=list("abcd"), model="mine", z=self.q))
        self.assertEqual(metadata_of(window.frames[0])["model"], "mine")

    def test_addresses_are_named_alike(self):
        with self.assertRaises(self.fovea.FoveaError) as raised:
            self.show("alike", address="elsewhere")
        for form in ("unix:PATH", "tcp:HOST:PORT"):
            self.assertIn(form, str(raised.exception))
            self.assertIn(form, self.fovea.show.__doc__)

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

    def test_after_a_fork_the_child_does_not_wait_for_threads_that_it_lacks(self):
        self.window()
        module = sys.modules["fovea.show"]
        with module._lock:
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                try:
                    os._exit(0 if self.show("lacking") else 1)
                finally:
                    os._exit(2)
            self.assertEqual(os.waitpid(child, 0)[1], 0)


if __name__ == "__main__":
    unittest.main()
