"""How masks and biases are recognised."""
import unittest

from package import needs


@needs("numpy")
class Conditions(unittest.TestCase):
    def setUp(self):
        import numpy

        from fovea import conditions

        self.np, self.module = numpy, conditions

    def see(self, mask=None, bias=None, nq=6, nk=6, heads=2, **more):
        return self.module.recognised(self.module.Conditions(), nq, nk, heads, mask, bias, **more)

    def causal(self, nq=6, nk=6, window=None):
        return self.module.seen_pairs(self.module.Conditions(causal=True, window=window), nq, nk)

    def test_causal(self):
        for nq, nk in ((6, 6), (3, 7), (2, 3)):
            found = self.see(self.causal(nq, nk), nq=nq, nk=nk)
            self.assertEqual((found.causal, found.window, found.mask), (True, None, None))

    def test_causal_ends_with_the_keys(self):
        seen = self.causal(2, 4)
        self.assertEqual(seen.astype(int).tolist(), [[1, 1, 1, 0], [1, 1, 1, 1]])

    def test_window(self):
        seen = self.causal(window=3)
        self.assertEqual(seen[5].astype(int).tolist(), [0, 0, 0, 1, 1, 1])
        found = self.see(seen)
        self.assertEqual((found.causal, found.window, found.mask), (True, 3, None))

    def test_full(self):
        found = self.see(self.np.ones((1, 6, 6), bool))
        self.assertEqual((found.causal, found.mask), (False, None))

    def test_padding_of_keys(self):
        keep = self.np.array([1, 1, 1, 1, 0, 0], bool)
        found = self.see(self.np.broadcast_to(keep, (2, 6, 6)))
        self.assertFalse(found.causal)
        self.assertEqual(found.mask.tolist(), keep.tolist())

    def test_causal_with_padding_on_either_side(self):
        for keep in ([0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]):
            for window in (None, 2):
                keep = self.np.array(keep, bool)
                found = self.see(self.causal(window=window) & keep)
                self.assertTrue(found.causal)
                self.assertEqual(found.mask.tolist(), keep.tolist())
                self.assertTrue((self.module.seen_pairs(found, 6, 6) == (self.causal(window=window) & keep)).all())

    def test_other_masks_are_kept(self):
        mask = self.causal()
        mask[4, 1] = False
        found = self.see(mask)
        self.assertFalse(found.causal)
        self.assertEqual(found.mask.shape, (6, 6))
        heads = self.np.stack([mask, ~mask])
        self.assertEqual(self.see(heads).mask.shape, (2, 6, 6))

    def test_documents(self):
        """Packed sequences, and chunks: also causal, with padding before, between and after them."""
        for segments in ([0, 0, 1, 1, 1, 2], [0, 1, 2, 3, 4, 5], [1, 1, 0, 0, 2, 2], [0, 0, 0, 0, 3, 3]):
            equal = self.np.equal.outer(segments, segments)
            for keep in ([1, 1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 0], [1, 1, 0, 1, 1, 1]):
                keep = self.np.array(keep, bool)
                for causal in (False, True):
                    mask = equal & keep & (self.causal() if causal else True)
                    for pairs in (mask, mask & keep[:, None]):
                        found = self.see(pairs)
                        self.assertTrue((self.module.seen_pairs(found, 6, 6) == pairs).all())
        found = self.see(self.np.equal.outer([0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 1, 2]) & self.causal())
        self.assertEqual((found.segments.tolist(), found.causal, found.mask), ([0, 0, 1, 1, 1, 2], True, None))
        found = self.see(self.np.equal.outer([0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 1, 2]))
        self.assertEqual((found.segments.tolist(), found.causal, found.mask), ([0, 0, 1, 1, 1, 2], False, None))

    def test_any_mask_means_what_it_meant(self):
        random = self.np.random.default_rng(3)
        for trial in range(300):
            nq, nk = random.integers(1, 6, 2)
            shape = (random.choice([1, 2]), random.choice([1, nq]), nk)
            mask = random.random(shape) < random.choice([0.3, 0.9])
            if trial % 5 == 0:
                segments = random.integers(0, 3, nk)
                mask = (segments[nk - nq :, None] == segments if nq <= nk else mask) & mask[:, :1]
            if trial % 3 == 0:
                mask = mask[:, :1] & self.causal(nq, nk, random.choice([None, 1, 2, 3]))
            found = self.see(mask, nq=int(nq), nk=int(nk))
            seen = self.np.broadcast_to(self.module.seen_pairs(found, int(nq), int(nk)), (2, nq, nk))
            self.assertTrue((seen == mask).all(), (mask, found))

    def test_float_masks_of_two_values_are_boolean(self):
        for low in (self.np.finfo("f4").min, -self.np.inf, -1e4, -1e9):
            found = self.see(self.np.where(self.causal(), 0, low).astype("f4"))
            self.assertEqual((found.causal, found.mask, found.bias), (True, None, None))

    def test_other_float_masks_are_biases(self):
        values = self.np.random.default_rng(0).normal(size=(1, 6, 6)).astype("f4")
        found = self.see(self.np.where(self.causal(), values, self.np.finfo("f4").min))
        self.assertTrue(found.causal)
        self.assertEqual(found.bias.shape, (6, 6))
        self.assertTrue((found.bias == self.np.where(self.causal(), values[0], 0)).all())

    def test_minus_hundred_hides_nothing(self):
        found = self.see(self.np.where(self.causal(), 0, -100).astype("f4"))
        self.assertFalse(found.causal)
        self.assertEqual(found.bias[0, 1], -100)

    def test_a_large_bias_is_no_mask(self):
        values = self.np.arange(36, dtype="f4").reshape(6, 6) * -1000
        found = self.see(None, values)
        self.assertIsNone(found.mask)
        self.assertEqual(found.bias.min(), -35000)

    def test_alibi(self):
        slopes = self.np.array([0.5, 0.25], "f4")
        bias = slopes[:, None, None] * self.np.arange(6, dtype="f4")[None, None]
        found = self.see(self.causal(), bias)
        self.assertEqual(found.alibi.tolist(), slopes.tolist())
        self.assertIsNone(found.bias)
        bias[1, 0, 3] += 0.01
        found = self.see(self.causal(), self.np.broadcast_to(bias, (2, 6, 6)))
        self.assertIsNone(found.alibi)
        self.assertEqual(found.bias.shape, (2, 6, 6))

    def test_a_single_query_belongs_to_causal_attention(self):
        self.assertTrue(self.see(self.np.ones((1, 1, 6), bool), nq=1, ends_causal=True).causal)
        self.assertFalse(self.see(self.np.ones((1, 1, 6), bool), nq=1).causal)

    def test_places_that_are_not_filled_are_cut_off(self):
        mask = self.np.concatenate([self.causal(), self.np.zeros((6, 3), bool)], axis=1)
        self.assertTrue(self.see(mask).causal)

    def test_shapes(self):
        from fovea import FoveaError

        with self.assertRaisesRegex(FoveaError, r"\(5, 6\); 2 heads, 6 queries and 6 keys"):
            self.see(self.np.ones((5, 6), bool))


if __name__ == "__main__":
    unittest.main()
