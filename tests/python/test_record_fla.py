"""fovea.record on calls of the functions of fla, which a model's file imports by their names.

Stand-ins with the same arguments, written from its documentation, compute them here. Where fla is importable, its
kernels for single tokens do so too, in Triton's interpreter if TRITON_INTERPRET is 1.
"""
import importlib
import inspect
import os
import unittest

from package import needs
from recorded import Recorded

OPS = {"fla.ops.gated_delta_rule": ("chunk_gated_delta_rule", "fused_recurrent_gated_delta_rule"),
       "fla.ops.kda": ("chunk_kda", "fused_recurrent_kda"),
       "fla.ops.delta_rule": ("chunk_delta_rule", "fused_recurrent_delta_rule"),
       "fla.ops.simple_gla": ("chunk_simple_gla", "fused_recurrent_simple_gla"),
       "fla.ops.gla": ("chunk_gla", "fused_recurrent_gla")}


def stand_in(erases):
    def kernel(q, k, v, g=None, gk=None, beta=None, scale=None, initial_state=None, use_qk_l2norm_in_kernel=False,
               use_gate_in_kernel=False, A_log=None, dt_bias=None, lower_bound=None, use_beta_sigmoid_in_kernel=False,
               allow_neg_eigval=False, cu_seqlens=None, gv=None, **kwargs):
        import torch

        heads, width = v.shape[2], q.shape[3]
        g = gk if g is None else g
        if use_gate_in_kernel:
            a = torch.ones(1) if A_log is None else A_log.exp()
            a = a.view(-1, 1) if g.ndim == 4 else a
            g = g if dt_bias is None else g + dt_bias.view(g.shape[2:])
            g = lower_bound * torch.sigmoid(a * g) if lower_bound else -a * torch.log1p(g.exp())
        if use_beta_sigmoid_in_kernel:
            beta = (1 + allow_neg_eigval) / (1 + torch.exp(-beta))
        if use_qk_l2norm_in_kernel:
            q, k = (x / (x.square().sum(-1, keepdim=True) + 1e-6).sqrt() for x in (q, k))
        q, k = (x.repeat_interleave(heads // x.shape[2], dim=2) for x in (q, k))
        state = torch.zeros(len(q), heads, width, v.shape[3])
        state = state if initial_state is None else initial_state.clone()
        outputs = []
        for t in range(q.shape[1]):
            if g is not None:
                state = state * g[:, t].exp().view(len(q), heads, -1, 1)
            new = v[:, t] if gv is None else v[:, t] * gv[:, t].exp()
            if erases:
                new = new - torch.einsum("bhd,bhdv->bhv", k[:, t], state)
            if beta is not None:
                new = new * beta[:, t, :, None]
            state = state + k[:, t, :, :, None] * new[:, :, None]
            outputs.append(torch.einsum("bhd,bhdv->bhv", q[:, t], state))
        return (width**-0.5 if scale is None else scale) * torch.stack(outputs, 1), state

    return kernel


@needs("numpy", "torch")
class Functions(Recorded):
    def setUp(self):
        super().setUp()
        import check_captures

        self.captures = check_captures
        torch = self.torch
        self.q, self.k, self.v = torch.randn(1, 20, 2, 8), torch.randn(1, 20, 2, 8) / 3, torch.randn(1, 20, 4, 6)
        self.few = self.v[:, :, :2]
        self.decay, self.channels = -torch.rand(1, 20, 4), -torch.rand(1, 20, 4, 8)
        self.beta, self.raw = torch.rand(1, 20, 4), dict(use_gate_in_kernel=True, use_beta_sigmoid_in_kernel=True)
        self.a, self.bias = torch.randn(4), torch.randn(4, 8)

    def put(self, name, function):
        globals()[name] = function
        self.addCleanup(globals().pop, name)

    def layer_of(self, name, **gates):
        return self.module(lambda layer, q, k, v: globals()[name](q=q, k=k, v=v, **gates)[0])

    def check(self, name, v, says="", **gates):
        """The recurrence of the file is that of the function, whose result stays."""
        run = self.layer_of(name, **gates)
        plain = run(self.q, self.k, v)
        if says:
            return self.nothing(lambda: run(self.q, self.k, v), says)
        content = self.record(lambda: run(self.q, self.k, v))
        self.assertTrue(self.torch.equal(plain, self.result))
        lines, good = self.captures.check(self.path())
        self.assertTrue(good, "\n".join(lines))
        self.assertEqual(content.metadata["recurrence"], "linear" if "gla" in name else "delta")
        return content

    def check_all(self, mode):
        gated = f"{mode}_gated_delta_rule"
        self.check(gated, self.v, g=self.decay, beta=self.beta)
        self.check(gated, self.v, g=self.decay, beta=self.beta, scale=0.5, use_qk_l2norm_in_kernel=True)
        self.check(gated, self.v, g=self.decay, beta=2 * self.beta, A_log=self.a, **self.raw)
        self.check(gated, self.v, g=self.decay, beta=self.beta, A_log=self.a, dt_bias=self.bias[:, 0],
                   allow_neg_eigval=True, use_qk_l2norm_in_kernel=True, **self.raw)
        for more in ({"A_log": self.a}, {"A_log": self.a, "lower_bound": -3.0}, {"lower_bound": -3.0},
                     {"A_log": None, "lower_bound": -3.0}):
            self.check(f"{mode}_kda", self.v, g=self.channels, beta=self.beta, dt_bias=self.bias.reshape(-1),
                       use_qk_l2norm_in_kernel=True, **self.raw, **more)
        content = self.check(f"{mode}_kda", self.v, g=self.channels, beta=self.beta)
        self.assertEqual(content.arrays["Layer.log_decay"].shape, (4, 20, 8))
        content = self.check(f"{mode}_delta_rule", self.few, beta=self.beta[:, :, :2])
        self.assertNotIn("Layer.log_decay", content.arrays)

    def test_stand_ins(self):
        for names in OPS.values():
            for name in names:
                self.put(name, stand_in("delta" in name or "kda" in name))
        for mode in ("chunk", "fused_recurrent"):
            self.check_all(mode)
            self.check(f"{mode}_simple_gla", self.few, g=self.decay[:, :, :2])
            content = self.check(f"{mode}_simple_gla", self.few, scale=1.0)
            self.assertEqual(sorted(content.arrays), ["Layer.k", "Layer.q", "Layer.v", "Layer.z"])
            self.check(f"{mode}_gla", self.few, **{"gk" if mode == "fused_recurrent" else "g": self.channels[:, :, :2]})

    def test_what_is_not_known_is_refused(self):
        self.put("fused_recurrent_gla", stand_in(False))
        self.put("chunk_delta_rule", stand_in(True))
        self.check("fused_recurrent_gla", self.few, says="differs from the model's own", gv=self.few)
        self.check("chunk_delta_rule", self.few, says="texts of several lengths in one row", cu_seqlens=[0, 20],
                   beta=self.beta[:, :, :2])
        self.check("chunk_delta_rule", self.few, says="it goes on from a state", beta=self.beta[:, :, :2],
                   initial_state=self.torch.ones(1, 2, 8, 6))

    @needs("fla")
    @unittest.skipUnless(os.environ.get("TRITON_INTERPRET"), "TRITON_INTERPRET is not set")
    def test_kernels_for_single_tokens(self):
        for home, names in OPS.items():
            for name in names:
                self.put(name, getattr(importlib.import_module(home), name))
                known = inspect.signature(globals()[name]).parameters
                self.assertLess({"q", "k", "v", "scale", "initial_state"}, set(known))
        self.check_all("fused_recurrent")


if __name__ == "__main__":
    unittest.main()
