import unittest

from statistics_of_runs import accurate, compared, first_line, ratios, reason, relative_spread, spread


class Spreads(unittest.TestCase):
    def test_percentiles_are_those_of_sorted_samples(self):
        self.assertEqual(spread(range(11, 0, -1)), {"median": 6, "p10": 2, "p90": 10, "samples": 11})
        self.assertEqual(spread([7.0]), {"median": 7.0, "p10": 7.0, "p90": 7.0, "samples": 1})

    def test_halves_are_rounded_up_as_in_figures_cpp(self):
        self.assertEqual(spread([1, 2])["median"], 2)
        self.assertEqual(spread([1, 2, 3, 4])["median"], 3)

    def test_the_relative_spread_is_that_between_the_quartiles(self):
        self.assertEqual(relative_spread([100, 9, 10, 11, 1]), 0.2)

    def test_ratios_are_of_pairs_not_of_medians(self):
        # The device slows down in the second round, for both: the ratio stays.
        self.assertEqual(ratios([2, 20, 2], [1, 10, 1]), {"median": 2, "p10": 2, "p90": 2, "samples": 3})
        self.assertIsNone(ratios([], []))

    def test_a_round_counts_where_both_have_a_time(self):
        self.assertEqual(ratios([2, None, 9, 3], [1, 1, None, 1])["samples"], 2)


class Gate(unittest.TestCase):
    def test_twice_the_plain_error_passes_and_more_does_not(self):
        self.assertTrue(accurate(2e-3, 1e-3))
        self.assertFalse(accurate(2.1e-3, 1e-3))
        self.assertFalse(accurate(float("nan"), 1e-3))
        self.assertTrue(accurate(1e-7, 0))  # a rounding

    def test_the_reason_names_the_logits(self):
        self.assertEqual(reason([("random", 1e-3, 1e-3), ("peaked", 1e-3, 1e-3)]), "")
        self.assertIn("on peaked logits", reason([("random", 1e-3, 1e-3), ("peaked", 3e-3, 1e-3)]))


    def test_an_error_always_has_a_reason(self):
        self.assertEqual(first_line(ValueError("\n\nno kernel\nfor this")), "no kernel")
        self.assertEqual(first_line(ValueError()), "ValueError")


class Comparison(unittest.TestCase):
    def rows(self):
        base = {"precision": "bf16", "n": 64}
        return compared(
            [
                base | {"who": "fovea", "what": "exact", "h200_floor_ms": 0.5, "kernel_samples": [1, 2],
                        "end_to_end_samples": [4, 4]},
                base | {"who": "peer", "what": "sdpa flash", "kernel_samples": [3, 6], "end_to_end_samples": [2, 2]},
                base | {"who": "peer", "what": "hyper", "plans_within": True, "kernel_samples": [9, 9],
                        "end_to_end_samples": [12, 12]},
            ]
        )  # fmt: skip

    def test_our_rows_have_the_ratio_to_every_peer_and_to_the_floor(self):
        ours = self.rows()[0]
        self.assertEqual(ours["peers_take_times"]["sdpa flash bf16"]["kernels"]["median"], 3)
        self.assertEqual(ours["peers_take_times"]["sdpa flash bf16"]["end_to_end"]["median"], 0.5)
        self.assertEqual(ours["times_h200_floor"], 4)

    def test_what_plans_within_its_kernels_is_compared_from_end_to_end_only(self):
        self.assertEqual(set(self.rows()[0]["peers_take_times"]["hyper bf16"]), {"end_to_end"})

    def test_what_came_late_is_compared_in_the_rounds_of_both(self):
        base = {"precision": "bf16", "end_to_end_samples": []}
        ours, flex = compared(
            [base | {"who": "fovea", "what": "exact", "h200_floor_ms": 0, "kernel_samples": [1, 1, 2]},
             base | {"who": "peer", "what": "flex", "kernel_samples": [None, None, 6]}]
        )  # fmt: skip
        self.assertEqual(ours["peers_take_times"]["flex bf16"]["kernels"]["median"], 3)
        self.assertIsNone(ours["peers_take_times"]["flex bf16"]["end_to_end"])
        self.assertEqual(flex["kernel_ms"]["samples"], 1)
        self.assertNotIn("end_to_end_ms", flex)

    def test_samples_are_not_kept(self):
        for row in self.rows():
            self.assertNotIn("kernel_samples", row)
            self.assertEqual(row["kernel_ms"]["samples"], 2)


if __name__ == "__main__":
    unittest.main()
