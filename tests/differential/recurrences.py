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
    beta, decay = drawn["beta"], drawn["log_decay"].reshape(n, -1)
    p, bound = np.zeros((2, n, n))
    for i in range(n):
        r, length = head.scale * q[i], head.scale * np.linalg.norm(q[i])
        for j in range(i, -1, -1):
            level = (i ^ j).bit_length()
            weight = beta[j] * (drawn["level_weights"][i, level] if "level_weights" in drawn else 1)
            p[i, j] = weight * (r @ k[j])
            bound[i, j] = abs(weight) * length * np.linalg.norm(k[j])
            if erases:
                r = r - beta[j] * (r @ k[j]) * k[j]
            r = r * np.exp(decay[j])
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
