"""P of recurrences: row after row of a state's transitions, with the gates that the program wrote."""
import math

import numpy as np

import variants


def unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def steps(head, drawn, erases, vectors_of_length_one):
    """P_ij = lambda_ij b_j q_i^T M_i ... M_(j+1) k_j with M_t = (I - b_t k_t k_t^T) A_t."""
    q, k = (unit(head.q), unit(head.k)) if vectors_of_length_one else (head.q, head.k)
    n, d = q.shape
    beta, decay = drawn["beta"].reshape(n).astype(float), drawn["log_decay"].reshape(n, -1).astype(float)
    p, bound = np.zeros((2, n, n))
    token = np.arange(n)
    weight = np.tril(np.broadcast_to(beta, (n, n)))
    if "level_weights" in drawn:
        level = np.frexp((token[:, None] ^ token).astype(np.float32))[1]
        weight = weight * np.take_along_axis(drawn["level_weights"], level, axis=1)
    lengths = head.scale * np.linalg.norm(q, axis=1)[:, None] * np.linalg.norm(k, axis=1)
    if not erases:  # the decay is the same for all channels
        since = np.cumsum(decay[:, 0])
        left = np.exp(np.minimum(since[:, None] - since, 0))
        p, bound = weight * left * (q @ k.T) * head.scale, np.abs(weight) * left * lengths
    for i in range(n if erases else 0):
        r, length = head.scale * q[i], 1.0
        for j in range(i, -1, -1):
            p[i, j] = weight[i, j] * (r @ k[j])
            bound[i, j] = abs(weight[i, j]) * length * lengths[i, j]
            r = (r - beta[j] * (r @ k[j]) * k[j]) * np.exp(decay[j])
            length *= math.exp(decay[j].max())
    made = variants.Attention(p, head.allowed)
    made.bound = bound
    states = math.ceil(math.log2(n)) + 1 if "level_weights" in drawn else 1
    made.multiply_adds = float(n * d * max(1, head.dv) * (1 + states * (4 if erases else 2)))
    return made


def delta(head, p, drawn):
    return steps(head, drawn, True, p["vectors"] == "unit")


def ssd(head, p, drawn):
    return steps(head, drawn, False, False)


def loglinear(head, p, drawn):
    return steps(head, drawn, False, False)


FORMULAS = {f.__name__: f for f in (delta, ssd, loglinear)}
