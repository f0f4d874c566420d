"""The process `fovea serve`, asked with arrays of NumPy."""
import os
import signal
import subprocess
import sys
import time
import unittest
from unittest import mock

from package import PROGRAM, ROOT, InFolder, needs

from fovea import server
from fovea.errors import FoveaError
from fovea.save import call_of


@needs("numpy")
@unittest.skipUnless(PROGRAM, "FOVEA_PROGRAM does not name the program")
class Asked(unittest.TestCase):
    def setUp(self):
        import numpy

        self.numpy = numpy
        stand = mock.patch.dict(os.environ, FOVEA=PROGRAM)
        stand.start()
        self.addCleanup(stand.stop)
        self.addCleanup(server.stop)
        random = numpy.random.default_rng(0)
        self.q = random.standard_normal((4, 20, 8)).astype(numpy.float32)
        self.k, self.v = (random.standard_normal((2, 24, 8)).astype(numpy.float32) for _ in range(2))

    def attend(self, variant="exact", heads=None, parameters=None, **conditions):
        call = call_of(self.q, self.k, self.v, **conditions)
        request = {"do": "attend", "variant": variant, "parameters": parameters or {}}
        if heads is not None:
            request["heads"] = heads
        return server.ask(request, call.arrays(), call.metadata())

    def softmax(self, head, causal, scale):
        """In float64, of query head `head`, two of which share a key head."""
        numpy = self.numpy
        q, k, v = (array.astype(float) for array in (self.q[head], self.k[head // 2], self.v[head // 2]))
        logits = scale * q @ k.T
        if causal:
            logits[numpy.arange(24)[None, :] > numpy.arange(20)[:, None] + 4] = -numpy.inf
        weights = numpy.exp(logits - logits.max(1, keepdims=True))
        return weights / weights.sum(1, keepdims=True) @ v

    def test_exact_is_softmax(self):
        for causal in (False, True):
            answer = self.attend(causal=causal, scale=0.5)
            z = answer.tensors.arrays["z"]
            self.assertEqual(z.shape, (4, 20, 8))
            self.assertGreater(answer.content["seconds"], 0)
            for head in range(4):
                # Sums of 24 products of numbers near 1, in float32.
                self.assertLess(abs(z[head] - self.softmax(head, causal, 0.5)).max(), 1e-5)

    def test_some_heads_in_their_order(self):
        whole = self.attend().tensors.arrays["z"]
        some = self.attend(heads=[3, 1]).tensors.arrays["z"]
        self.assertTrue((some == whole[[3, 1]]).all())

    def test_a_request_that_is_refused_is_not_the_end(self):
        for expected, run in (
            ("unknown variant 'hyperr'; expected one of exact", lambda: self.attend("hyperr")),
            ("unknown parameter 'blok'", lambda: self.attend("hyper", parameters={"blok": 4})),
            ("\"heads\" has 4; expected whole numbers from 0 to 3", lambda: self.attend(heads=[4])),
            ("the request \"dance\" is not known", lambda: server.ask({"do": "dance"})),
            ("\"variant\" is .*; expected the id of a variant", lambda: server.ask({"do": "check"})),
            ("imported", lambda: self.attend("imported")),
        ):
            with self.assertRaisesRegex(FoveaError, expected):
                run()
        first = server._server
        self.attend()
        self.assertIs(server._server, first)  # one process answered all

    def test_a_process_that_has_died_is_an_error_and_the_next_request_starts_another(self):
        self.attend()
        first = server._server._process
        with mock.patch.object(server.Server, "runs", lambda _: True):  # it dies once it is asked
            first.kill()
            with self.assertRaisesRegex(FoveaError, "serve was ended by signal 9"):
                self.attend()
        self.attend()
        server._server._process.kill()
        server._server._process.wait()
        self.attend()  # between two requests nothing is lost

    def test_the_last_words_of_a_program_that_does_not_serve(self):
        server.stop()
        with mock.patch.dict(os.environ, FOVEA="/bin/sh -c 'echo nobody serves >&2; exit 3'"):
            with self.assertRaisesRegex(FoveaError, "ended with 3: nobody serves"):
                self.attend()

    def test_an_interrupt_ends_the_request_alone(self):
        self.attend()
        first = server._server._process
        with mock.patch.object(server.Server, "_receive", side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt):
                self.attend()
        self.assertEqual(first.poll(), -signal.SIGKILL)  # its answer would have been taken for another one
        self.attend()

    def test_a_forked_process_starts_its_own(self):
        self.attend()
        first = server._server._process
        child = os.fork()
        if child == 0:
            status = 1
            try:
                self.attend()
                status = 0 if server._server._process.pid != first.pid else 2
                server.stop()
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.attend()
        self.assertIs(server._server._process, first)


@needs("numpy")
@unittest.skipUnless(PROGRAM, "FOVEA_PROGRAM does not name the program")
class Ends(InFolder):
    def test_it_ends_with_the_process_that_started_it(self):
        """Killed, with a forked child that lives on: nothing holds the pipe."""
        code = ("import os, signal, sys, time; from fovea import server; "
                "server.ask({'do': 'check', 'variant': 'exact'}); process = server._server._process.pid\n"
                "if os.fork() == 0: os.close(1); time.sleep(600)\n"
                "print(process, flush=True); os.kill(os.getpid(), signal.SIGKILL)")
        environment = {**os.environ, "FOVEA": PROGRAM, "PYTHONPATH": str(ROOT / "app" / "python")}
        started = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True,
                                   start_new_session=True)
        self.addCleanup(started.stdout.close)
        self.addCleanup(os.killpg, started.pid, signal.SIGKILL)  # the forked child
        process = int(started.stdout.read())
        started.wait()
        for _ in range(6000):
            if _is_over(process):
                return
            time.sleep(0.01)
        self.fail("fovea serve runs on")


def _is_over(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


if __name__ == "__main__":
    unittest.main()
