"""torch_peers.py on the CPU: a pretended device, and a pretended library of Fovea's (FOVEA_PRETENDED_LIBRARY)."""

import json
import os
import sys
import tempfile
import types
import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest import mock

try:
    import torch

    import torch_attention
    import torch_peers
    from torch_attention import Peer, errors_of, fixed_pairs, flex, rows_of_formula, sampled_rows, strided_pairs
except ImportError:
    torch = None

LIBRARY = os.environ.get("FOVEA_PRETENDED_LIBRARY")


class Device:
    """A device whose clock counts kernels of 1 ms, and which is idle once it has slept for `busy` cycles."""

    def __init__(self, busy=0):
        self.busy, self.slept, self.now = busy, 0, 0

    def sleep(self, cycles):
        self.slept = cycles

    def event(self, enable_timing):
        device = self

        class Event:
            def record(self):
                device.now += 1
                self.at = device.now

            def query(self):
                return device.slept < device.busy

            def synchronize(self):
                pass

            def elapsed_time(self, end):
                return end.at - self.at

        return Event()

    def pretend(self):
        return mock.patch.multiple(
            torch.cuda, Event=self.event, _sleep=self.sleep, synchronize=lambda: None, create=True
        )


@unittest.skipUnless(torch, "no PyTorch")
class ClockOfKernels(unittest.TestCase):
    def test_a_run_is_timed_behind_a_head_start(self):
        device, order = Device(), []
        with device.pretend(), mock.patch.object(torch.cuda, "_sleep", lambda cycles: order.append("sleep")):
            self.assertEqual(torch_peers.Clock().kernels(lambda: order.append("run")), 1)
        self.assertEqual(order, ["sleep", "run"])

    def test_the_head_start_grows_until_the_host_is_in_time(self):
        device = Device(busy=10_000_000)
        with device.pretend():
            clock = torch_peers.Clock()
            self.assertEqual(clock.kernels(lambda: None), 1)
        self.assertEqual(clock.cycles, 16_000_000)

    def test_no_time_is_given_where_the_host_is_always_late(self):
        with Device(busy=1e12).pretend():
            self.assertIsNone(torch_peers.Clock().kernels(lambda: None))


@unittest.skipUnless(torch, "no PyTorch")
class Formula(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.q, self.k, self.v = (torch.randn(2, 96, 64) for _ in range(3))

    def every_row(self, mask, dtype=None):
        dtype = dtype or torch.float64
        return rows_of_formula(self.q[0], self.k[0], self.v[0], mask, torch.arange(96), dtype)

    def test_it_is_that_of_pytorch(self):
        for causal in (False, True):
            mask = Peer("exact", "fp32", None).mask_of(96, causal)
            q, k, v = (x[None].double() for x in (self.q, self.k, self.v))
            z = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
            self.assertLess((self.every_row(mask) - z[0, 0]).abs().max().item(), 1e-12)

    def test_as_many_rows_decide_as_of_ours(self):
        header = (Path(__file__).parent / "sampled_rows.h").read_text()
        rows = sampled_rows(4096)
        self.assertIn(f"sampled_rows = {len(rows)};", header)
        self.assertEqual(sorted(set(rows.tolist())), rows.tolist())

    def test_in_16_bits_it_is_as_accurate_as_16_bits_are(self):
        mask = Peer("exact", "bf16", None).mask_of(96, False)
        truth = self.every_row(mask)
        error = torch_attention.relative_error(self.every_row(mask, torch.bfloat16), truth)
        self.assertTrue(2**-11 < error < 2**-6)

    def test_flex_attention_has_the_pairs_of_the_patterns(self):
        with mock.patch.object(torch, "compile", lambda function, **options: function):
            run, prepare = flex("cpu")
        for pairs in (strided_pairs, fixed_pairs):
            for causal in (False, True):
                peer = Peer("flex", "fp32", run, "flex", prepare(pairs), pairs)
                z = run(self.q[None], self.k[None], self.v[None], causal, peer.prepare(96, causal))
                error, plain = errors_of(peer, z, self.q, self.k, self.v, causal)
                self.assertLess(error, 1e-5)

    def test_patterns_are_those_of_the_variants(self):
        i, j = torch.arange(100)[:, None], torch.arange(100)[None]
        strided = strided_pairs(100)(i, j) & (i >= j)  # l = 10
        self.assertEqual(strided[37].nonzero().flatten().tolist(), [7, 17, 27, *range(28, 38)])
        fixed = fixed_pairs(100)(i, j) & (i >= j)  # blocks of 10, the last 8 of each are summaries
        self.assertEqual(fixed[21].nonzero().flatten().tolist(), [*range(2, 10), *range(12, 20), 20, 21])


@unittest.skipUnless(torch and LIBRARY, "no PyTorch, or no pretended library")
class WholeProgram(unittest.TestCase):
    def measured(self, *more_peers, more=()):
        def exact(q, k, v, causal):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

        def some_peers(n, heads, d, device, with_flex):
            yield Peer("plain", "fp32", lambda q, k, v, causal, _: exact(q, k, v, causal))
            yield Peer("swapped", "fp32", lambda q, k, v, causal, _: exact(k, q, v, causal))
            yield Peer("sdpa cudnn", "bf16", torch_attention.sdpa(torch_attention.SDPBackend.CUDNN_ATTENTION))
            yield Peer("estimate", "bf16", lambda q, k, v, causal, _: 1.0001 * exact(q, k, v, causal),
                       "hyper", estimates=True, plans_within=True)  # fmt: skip
            yield from more_peers

        with tempfile.TemporaryDirectory() as folder, Device().pretend(), redirect_stdout(StringIO()):
            out = Path(folder) / "peers.json"
            arguments = ["--out", str(out), "--library", LIBRARY, "--lengths", "64", "--seconds", "20", *more]
            constants = mock.patch.multiple(torch_peers, peers=some_peers, HEADS=2, ROUNDS=8, BEYOND_CACHES=1)
            with constants:
                try:
                    torch_peers.main(arguments, device="cpu")
                except SystemExit:
                    pass
            return json.loads(out.read_text())

    def test_ours_and_the_peers_are_measured_in_turn(self):
        found = self.measured()
        rows = {(row["what"], row["causal"]): row for row in found["peers"]}
        ours = rows["exact", False]
        self.assertEqual(ours["who"], "fovea")
        self.assertEqual(ours["kernel_ms"]["samples"], rows["plain", False]["kernel_ms"]["samples"])
        self.assertEqual(ours["end_to_end_ms"]["median"], 8)
        self.assertEqual(ours["times_h200_floor"], ours["kernel_ms"]["median"] / 0.5)
        self.assertEqual(ours["settings"], "block=16")
        self.assertEqual(ours["kernel"], "pretended kernel")
        self.assertIn("kernels", ours["peers_take_times"]["plain fp32"])
        for key in ("median", "p10", "p90", "samples"):
            self.assertIn(key, ours["peers_take_times"]["plain fp32"]["kernels"])
            self.assertIn(key, rows["plain", True]["end_to_end_ms"])

    def test_what_is_not_accurate_or_absent_has_no_time_but_a_reason(self):
        found = self.measured()
        timed = {row["what"] for row in found["peers"]}
        reasons = {row["what"]: row["reason"] for row in found["refused_peers"]}
        for name, words in (
            ("wrong", "on peaked logits"),
            ("swapped", "logits"),
            ("absent", "absent is not on this device"),
            ("sdpa cudnn", ""),
            ("lost", "computed by mma"),  # after three runs
        ):
            self.assertNotIn(name, timed)
            self.assertIn(words, reasons[name])

    def test_rounds_in_which_the_host_was_late_do_not_count(self):
        rows = {row["what"]: row for row in self.measured()["peers"] if not row["causal"]}
        self.assertEqual(rows["exact"]["kernel_ms"]["samples"], 8)
        self.assertEqual(rows["late"]["kernel_ms"]["samples"], 4)
        self.assertEqual(rows["late"]["peers_take_times"]["plain fp32"]["kernels"]["samples"], 4)

    def test_what_is_compiled_comes_last_and_is_compared_in_the_rounds_of_both(self):
        plain = torch.nn.functional.scaled_dot_product_attention
        found = self.measured(
            Peer("compiled", "fp32", lambda q, k, v, causal, _: plain(q, k, v, is_causal=causal), compiles=True),
        )
        rows = {row["what"]: row for row in found["peers"] if not row["causal"]}
        self.assertEqual(rows["exact"]["kernel_ms"]["samples"], 16)
        self.assertEqual(rows["compiled"]["kernel_ms"]["samples"], 8)
        self.assertEqual(rows["exact"]["peers_take_times"]["compiled fp32"]["kernels"]["samples"], 8)
        self.assertEqual(rows["exact"]["peers_take_times"]["plain fp32"]["kernels"]["samples"], 16)

    def test_options_choose_contenders_peers_widths_and_masks(self):
        found = self.measured(more=["--what", "exact", "--precisions", "fp32", "--d", "64,128", "--causal", "yes"])
        rows = found["peers"]
        self.assertEqual({row["what"] for row in rows}, {"exact", "plain"})
        self.assertEqual({row["d"] for row in rows}, {64, 128})
        self.assertTrue(all(row["causal"] for row in rows))
        self.assertEqual({row["what"] for row in found["refused_peers"]}, {"swapped"})

    def test_rounds_end_when_the_times_have_settled(self):
        rows = self.measured(more=["--spread", "1", "--what", "exact", "--precisions", "fp32"])["peers"]
        self.assertEqual({row["kernel_ms"]["samples"] for row in rows}, {5})
        rows = self.measured(more=["--spread", "1e-9", "--what", "exact", "--precisions", "fp32"])["peers"]
        self.assertEqual({row["kernel_ms"]["samples"] for row in rows}, {8})  # all
        self.assertEqual({row["end_to_end_ms"]["samples"] for row in rows}, {5})

    def test_what_was_measured_is_saved_when_the_program_ends_early(self):
        def end(*_):
            raise SystemExit

        rows = {row["what"]: row for row in self.measured(Peer("endless", "fp32", end))["peers"]}
        self.assertEqual(set(rows), {"exact", "hyper", "lost", "plain"})  # `late` was late in its first run
        self.assertEqual(rows["plain"]["kernel_ms"]["samples"], 1)
        rows = {row["what"]: row for row in self.measured(Peer("endless", "fp32", end, compiles=True))["peers"]}
        self.assertEqual(rows["plain"]["kernel_ms"]["samples"], 8)
        self.assertIn("end_to_end_ms", rows["plain"])

    def test_an_estimate_is_held_against_the_error_of_ours(self):
        found = self.measured()
        # Ours, behind the pretended library, is exact: an estimate that is off by 1e-4 is not good enough.
        self.assertIn("estimate", {row["what"] for row in found["refused_peers"]})
        with mock.patch.object(torch_peers.OurEntrant, "errors_as_estimate", lambda self: [0.5, 0.5]):
            rows = {row["what"]: row for row in self.measured()["peers"]}
        self.assertTrue(rows["estimate"]["plans_within"])
        self.assertEqual(set(rows["exact"]["peers_take_times"]["estimate bf16"]), {"end_to_end"})


@unittest.skipUnless(torch, "no PyTorch")
class Peers(unittest.TestCase):
    def test_every_back_end_is_named_and_the_authors_module_is_used_where_it_is(self):
        module = types.ModuleType("hyper_attention")
        made, moved = [], []

        class HyperAttention:
            def __init__(self, **settings):
                made.append(settings)

            def to(self, **where):
                moved.append(where)
                return self

            def __call__(self, q, k, v, causal):
                return v

        module.HyperAttention = HyperAttention
        without = {peer.name for peer in torch_attention.peers(16384, 12, 64, "cpu", with_flex=False)}
        self.assertFalse({name for name in without if name.startswith("flex") or name == "sdpa math"})
        with mock.patch.dict(sys.modules, {"hyper_attention": module}):
            found = list(torch_attention.peers(4096, 12, 64, "cpu"))
        names = {peer.name for peer in found}
        self.assertIn("sdpa math", names)
        self.assertLessEqual({"sdpa flash", "sdpa cudnn", "sdpa efficient", "flex exact", "flex strided", "flex fixed",
                              "authors' hyper"}, names)  # fmt: skip
        self.assertEqual([m["min_seq_len"] for m in made], [0, 4096])
        self.assertEqual(made[0]["block_size"], 256)
        # Its buffers are on the device, in the precision of Q: it refuses others.
        self.assertEqual(moved, 2 * [{"device": "cpu", "dtype": torch.bfloat16}])


if __name__ == "__main__":
    unittest.main()
