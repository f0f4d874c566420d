"""fovea.record in several threads and processes, and several recordings at once."""
import os
import threading
import unittest

from package import in_threads, needs
from recorded import Recorded


@needs("numpy", "torch")
class Threads(Recorded):
    def nothing_is_left(self):
        """In PyTorch, of what watches."""
        torch = self.torch
        module = torch.nn.modules.module
        self.assertFalse(module._global_forward_pre_hooks or module._global_forward_hooks)
        self.assertEqual(self.stacks(), (0, 0))

    def stacks(self):
        return self.torch._C._len_torch_function_stack(), self.torch._C._len_torch_dispatch_stack()

    def test_another_thread(self):
        a, b = self.layer(), self.layer()
        seen = []

        def run():
            thread = threading.Thread(target=lambda: seen.append(b(self.x)))
            a(self.x)
            thread.start()
            thread.join()

        self.record(run)
        self.assertEqual(self.recording.calls, ["Watched", "Watched.other"])

    def test_by_hand_in_another_thread(self):
        torch = self.torch
        hand = self.module(lambda layer, x: torch.softmax(x @ x.mT, -1)[:, :, :3] @ x[:, :3], "Hand")

        def run():
            self.layer()(self.x)
            thread = threading.Thread(target=lambda: hand(self.x), name="worker")
            thread.start()
            thread.join()

        self.record(run, "Left out: Hand, in the thread worker cannot be recorded: it computes weights in pieces")

    def test_many_threads(self):
        """Nothing is lost, no name changes, and each thread has the modules that it runs."""
        torch = self.torch
        models = [torch.nn.Sequential(*(self.layer() for _ in range(4))) for _ in range(3)]
        barrier = threading.Barrier(3)

        def work(model):
            with torch.no_grad():
                barrier.wait()
                for _ in range(3):
                    model(self.x)

        self.record(lambda: in_threads(work, models))
        self.assertEqual(sorted(self.recording.calls), sorted(
            f"{layer}{model}{step}" for layer in range(4) for model in ("", ".other", ".other2")
            for step in ("", ".step1", ".step2")))

    def test_threads_are_left_as_they_were(self):
        states = []

        def work():
            self.layer()(self.x)
            states.append(self.torch.overrides._get_current_function_mode_stack())

        def run():
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()

        self.record(run)
        self.assertEqual(states, [[]])

    def test_a_thread_that_is_inside_a_model_when_the_block_ends(self):
        inside, ended = threading.Event(), threading.Event()
        after = []
        watched = self.layer()

        def forward(layer, x):
            watched(x)
            inside.set()
            ended.wait(60)
            return watched(x)

        def work():
            self.module(forward)(self.x)
            after.append(self.stacks())

        thread = threading.Thread(target=work)

        def run():
            thread.start()
            inside.wait(60)

        self.record(run)
        ended.set()
        thread.join()
        self.assertEqual(after, [(0, 0)])
        self.assertEqual(len(self.recording.calls), 1)
        self.nothing_is_left()

    def test_one_model_in_several_threads(self):
        """A step has the same number in all layers, whichever thread comes first."""
        torch = self.torch
        layers = [self.layer(), self.layer()]
        turns = {1.0: [0, 3], 2.0: [1, 2]}  # of the two layers, by thread
        done = [threading.Event() for _ in range(4)]

        def forward(model, x):
            for layer, turn in zip(layers, turns[float(x[0, 0, 0])]):
                if turn:
                    done[turn - 1].wait(60)
                layer(x)
                done[turn].set()

        model = self.module(forward, layers=torch.nn.ModuleList(layers))
        content = self.record(lambda: in_threads(model, [torch.full((1, 3, 8), n) for n in turns]))
        self.assertEqual({name: array.mean() for name, array in content.arrays.items() if name.endswith(".q")},
                         {"layers.0.q": 1, "layers.1.q": 1, "layers.0.step1.q": 2, "layers.1.step1.q": 2})

    # Several recordings.

    def test_recordings_of_two_threads(self):
        """Each has the calls of its own thread, though the one that begins first ends first."""
        begun = [threading.Event(), threading.Event()]
        first_has_ended = threading.Event()
        layer = self.layer()
        calls = {}

        def first():
            with self.fovea.record(self.path("first")) as recording:
                begun[0].set()
                begun[1].wait(60)
                layer(self.x)
            calls["first"] = recording.calls
            first_has_ended.set()

        def second():
            begun[0].wait(60)
            with self.fovea.record(self.path("second")) as recording:
                begun[1].set()
                first_has_ended.wait(60)
                layer(self.x)
                layer(self.x)
            calls["second"] = recording.calls

        stance = getattr(self.torch._dynamo.eval_frame, "_stance", None)
        in_threads(lambda work: work(), (first, second))
        self.assertEqual(calls, {"first": ["Watched"], "second": ["Watched", "Watched.step1"]})
        self.assertEqual(getattr(self.torch._dynamo.eval_frame, "_stance", None), stance)
        self.nothing_is_left()

    def test_recordings_that_end_in_any_order(self):
        from torch.overrides import TorchFunctionMode
        from torch.utils._python_dispatch import TorchDispatchMode

        class Functions(TorchFunctionMode):
            def __torch_function__(self, function, types, args=(), kwargs=None):
                return function(*args, **(kwargs or {}))

        class Operations(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                return function(*args, **(kwargs or {}))

        layer = self.layer()
        first, second = (self.fovea.record(self.path(name)) for name in ("first", "second"))
        with Functions(), Operations():
            before = self.stacks()
            first.__enter__()
            layer(self.x)
            with Functions(), Operations():
                second.__enter__()
                layer(self.x)
                first.__exit__(None, None, None)
                layer(self.x)
                ending = threading.Thread(target=second.__exit__, args=(None, None, None))
                ending.start()
                ending.join()
                layer(self.x)  # the first call after it takes the modes off
                self.assertEqual(self.stacks(), (before[0] + 1, before[1] + 1))
            self.assertEqual(self.stacks(), before)
        self.assertEqual((first.calls, second.calls), (["Watched", "Watched.step1"], ["Watched", "Watched.step1"]))
        self.nothing_is_left()

    @unittest.skipUnless(hasattr(os, "fork"), "this system has no fork")
    def test_a_fork_records_nothing(self):
        """The child touches no tensor, whose threads would not be there."""
        layer = self.layer()

        def in_child():
            self.nothing_is_left()
            with self.assertWarnsRegex(self.fovea.FoveaWarning, "this process was forked inside the block"):
                self.recording.__exit__(None, None, None)
            self.recording._file._whole.file.seek(0)
            self.recording._file._whole.file.write(bytes(1 << 20))
            self.recording._file._whole.file.flush()

        def run():
            layer(self.x)
            child = os.fork()
            if not child:
                code = 1
                try:
                    in_child()
                    code = 0
                finally:
                    os._exit(code)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(self.files(), [])
            layer(self.x + 1)

        content = self.record(run)
        self.assertEqual(self.recording.calls, ["Watched", "Watched.step1"])
        self.assertTrue((content.arrays["Watched.q"] == self.x.numpy()).all())
        self.assertTrue((content.arrays["Watched.step1.q"] == (self.x + 1).numpy()).all())


if __name__ == "__main__":
    unittest.main()
