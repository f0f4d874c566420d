"""The gradients of a kernel's backward pass in a file beside q, k, v and z, against those of attention in float64."""
import math

import numpy as np

import compute
import variants
from computed import Computed
from figures import UNIT
from long_heads import FixedLayer


def budgets(head, p, dz, of_q, of_k, of_v):
    """The largest error of each row that rounding explains in a kernel of float32 (core/analysis/gradients.h)."""
    lengths = [np.linalg.norm(x, axis=1) for x in (head.q, head.k, head.v, dz)]
    of_queries, of_keys, of_values, of_dz = lengths
    n = max(p.shape)
    weights = 2 * UNIT + 4 * head.d * UNIT * head.scale * of_queries * of_keys.max() + 2 * head.keys * UNIT
    of_z = weights * (p @ of_values) + UNIT * np.linalg.norm(p @ head.v, axis=1)
    products = dz @ head.v.T
    apart = products - (p * products).sum(axis=1, keepdims=True)
    errors = p * (weights[:, None] * np.abs(apart) + (head.dv * UNIT * of_values + of_z[:, None]) * of_dz[:, None])
    errors += 2 * n * UNIT * np.abs(p * apart)
    return (head.scale * errors @ of_keys + UNIT * np.linalg.norm(of_q, axis=1),
            head.scale * errors.T @ of_queries + UNIT * np.linalg.norm(of_k, axis=1),
            p.T @ (weights * of_dz) + UNIT * np.linalg.norm(of_v, axis=1))


def of_attention(head, p, dz):
    """dQ, dK, dV (Dao et al. 2022, appendix B.2)."""
    products = dz @ head.v.T
    of_logits = p * (products - (p * products).sum(axis=1, keepdims=True))
    return head.scale * of_logits @ head.k, head.scale * of_logits.T @ head.q, p.T @ dz


def figures(head, p, dz, theirs):
    ours = of_attention(head, p, dz)
    out = {}
    for name, own, other, budget in zip(("dq", "dk", "dv"), ours, theirs, budgets(head, p, dz, *ours)):
        error, norm = np.linalg.norm(other - own), np.linalg.norm(own)
        out[name + "_rel_fro"] = (error / norm, 1e-5 * error / norm + 1e-6)
        share = np.linalg.norm(other - own, axis=1) / budget
        out[name + "_rows_beyond_rounding"] = ((share > 1).sum(), (np.abs(share - 1) < 0.2).sum())
    return out


def check(program):
    layer = FixedLayer(24, True, d=5, dv=4)
    head, random = layer.head(0), np.random.default_rng(7)
    p = variants.exact(head, {}, {}).p
    dz = random.standard_normal((24, 4)).astype(np.float32).astype(float)
    theirs = []
    for gradient in of_attention(head, p, dz):
        gradient[5:9] *= 1.01  # rows with a mistake
        theirs.append(gradient.astype(np.float32).astype(float))
    z = (p @ head.v).astype(np.float32)
    layer.imported = {"z": z.astype(float)[None]}
    for name, array in (("z", z), ("dz", dz), *zip(("dq", "dk", "dv"), theirs)):
        layer.tensors[name] = ("F32", array[None])
    layer.gradients = {0: figures(head, p, dz, theirs)}
    layer.write(program.folder)
    exact, computed = (Computed(program, layer, variant, {}, 0) for variant in ("exact", "imported"))
    return compute.check(layer, exact, computed)
