"""fovea.save, with NumPy alone and with PyTorch."""
import json
import unittest

from package import InFolder, needs


@needs("numpy")
class Save(InFolder):
    def setUp(self):
        super().setUp()
        import numpy

        import fovea

        self.np, self.fovea = numpy, fovea
        random = numpy.random.default_rng(1)
        self.q = random.normal(size=(4, 5, 3)).astype("f4")
        self.k = random.normal(size=(2, 7, 3)).astype("f4")
        self.v = random.normal(size=(2, 7, 6)).astype("f4")

    def save(self, **more):
        self.fovea.save(self.path(), self.q, self.k, self.v, **more)
        return self.fovea.read(self.path())

    def test_only_what_is_given_is_said(self):
        content = self.save()
        self.assertEqual(content.metadata, {"layout": "[H,n,d]"})
        self.assertEqual(sorted(content.arrays), ["layer0.k", "layer0.q", "layer0.v"])
        self.assertTrue((content.arrays["layer0.q"] == self.q).all())

    def test_all_that_can_be_said(self):
        ones = self.np.ones(4)
        content = self.save(name="a.b", tokens=list("abcde"), key_tokens=list("abcdefg"), scale=0.25, causal=True,
                            window=3, softcap=50, alibi=ones, sinks=ones, bias=self.q[:, :, :1] * self.np.ones(7, "f4"),
                            z=self.np.zeros((4, 5, 6), "f4"), mask=self.np.arange(7) > 1, model="mine")
        said = content.metadata
        self.assertEqual(json.loads(said["tokens"]), list("abcde"))
        self.assertEqual(json.loads(said["key_tokens"]), list("abcdefg"))
        self.assertEqual((said["scale"], said["causal"], said["window"], said["softcap"], said["model"]),
                         ("0.25", "true", "3", "50.0", "mine"))
        self.assertEqual({name: array.shape for name, array in content.arrays.items()},
                         {"a.b.q": (4, 5, 3), "a.b.k": (2, 7, 3), "a.b.v": (2, 7, 6), "a.b.z": (4, 5, 6),
                          "a.b.mask": (7,), "a.b.bias": (4, 5, 7), "a.b.alibi": (4,), "a.b.sinks": (4,)})
        self.assertEqual(content.types["a.b.alibi"], "F32")

    def test_segments(self):
        q = self.q[:2]
        self.fovea.save(self.path(), q, q, q, segments=[0, 0, 1, 1, 1])
        content = self.fovea.read(self.path())
        self.assertEqual(content.types["layer0.segments"], "I32")
        with self.assertRaisesRegex(self.fovea.FoveaError, "segments has the shape"):
            self.fovea.save(self.path(), q, q, q, segments=[0, 0, 1])
        with self.assertRaisesRegex(self.fovea.FoveaError, "segments has the shape"):
            self.fovea.save(self.path(), q, q, q, segments=[0, 0, 1], bias=self.np.ones((5, 5)))

    def test_segments_of_more_keys_than_queries(self):
        content = self.save(segments=[0, 0, 0, 1, 1, 1, 1])
        self.assertEqual(content.arrays["layer0.segments"].tolist(), [0, 0, 0, 1, 1, 1, 1])
        with self.assertRaisesRegex(self.fovea.FoveaError, r"segments has the shape \[5\]; expected \[7\]"):
            self.save(segments=[0, 0, 1, 1, 1])
        with self.assertRaisesRegex(self.fovea.FoveaError, r"at least as many keys \(4\) as queries \(5\)"):
            self.fovea.save(self.path(), self.q, self.k[:, :4], self.v[:, :4], segments=[0, 0, 1, 1])
        from fovea.conditions import Conditions, seen_pairs

        seen = seen_pairs(Conditions(segments=self.np.array([0, 0, 0, 1])), 2, 4)
        self.assertEqual(seen.tolist(), [[True, True, True, False], [False, False, False, True]])

    def test_a_causal_mask_is_recorded_as_such(self):
        mask = self.np.tril(self.np.ones((5, 7), bool), 2)
        content = self.save(mask=mask)
        self.assertEqual(content.metadata, {"causal": "true", "layout": "[H,n,d]"})

    def test_one_head_and_a_batch_of_one(self):
        self.fovea.save(self.path(), self.q[0], self.k[0], self.v[0])
        self.assertEqual(self.fovea.read(self.path()).arrays["layer0.q"].shape, (1, 5, 3))
        self.fovea.save(self.path(), self.q[None], self.k[None], self.v[None])
        self.assertEqual(self.fovea.read(self.path()).arrays["layer0.q"].shape, (4, 5, 3))

    def test_values_may_be_unknown(self):
        self.fovea.save(self.path(), self.q, self.k, None, causal=True)
        content = self.fovea.read(self.path())
        self.assertEqual(sorted(content.arrays), ["layer0.k", "layer0.q"])
        with self.assertRaisesRegex(self.fovea.FoveaError, "z without v"):
            self.fovea.save(self.path(), self.q, self.k, None, z=self.q)
        with self.assertRaisesRegex(self.fovea.FoveaError, r"q \[4, 5, 3\], k \[2, 7, 2\] do not fit"):
            self.fovea.save(self.path(), self.q, self.k[..., :2], None)

    def test_what_does_not_fit_is_refused_and_nothing_replaced(self):
        self.path().write_bytes(b"before")
        for wrong, words in ((dict(tokens=["a"]), "1 tokens for 5 places"), (dict(z=self.q), "z has the shape"),
                             (dict(sinks=[1.0]), "sinks has the shape"),
                             (dict(mask=self.np.ones((3, 3), bool)), "mask has the shape")):
            with self.assertRaisesRegex(self.fovea.FoveaError, words):
                self.save(**wrong)
        with self.assertRaisesRegex(self.fovea.FoveaError, "evenly"):
            self.fovea.save(self.path(), self.q[:3], self.k, self.v)
        with self.assertRaisesRegex(self.fovea.FoveaError, "do not fit"):
            self.fovea.save(self.path(), self.q, self.k, self.v[:, :3])
        with self.assertRaisesRegex(self.fovea.FoveaError, r"q has the shape \[2, 4, 5, 3\]"):
            self.fovea.save(self.path(), self.np.stack([self.q, self.q]), self.k, self.v)
        self.assertEqual(self.path().read_bytes(), b"before")
        self.assertEqual(self.files(), ["run.safetensors"])

    @needs("torch")
    def test_bfloat16_is_kept(self):
        import torch

        q = torch.randn(2, 5, 3, requires_grad=True).to(torch.bfloat16)
        self.fovea.save(self.path(), q, q, q, mask=torch.zeros(5, 5), bias=torch.randn(5, 5))
        content = self.fovea.read(self.path())
        self.assertEqual(content.types["layer0.q"], "BF16")
        self.assertTrue((content.arrays["layer0.q"] == q.detach().float().numpy()).all())
        self.assertEqual(content.arrays["layer0.bias"].shape, (5, 5))


if __name__ == "__main__":
    unittest.main()
