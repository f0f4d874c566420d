// The gradients of attention beside those of another program: what dQ, dK and dV are for the dZ
// that its file holds, and which rows of them rounding does not explain.
#pragma once

#include <vector>

#include "analysis/diagnostics.h"
#include "data/head_tensor.h"

namespace fovea {

/// A gradient, and for each of its rows the largest error that rounding can explain.
struct Gradient {
  Matrix value;                // as the tensor is
  std::vector<double> budget;  // [rows]
};
struct Gradients {
  Gradient q, k, v;
};

/// For dZ, the gradient of a loss by Z, and logits cap(x_ij) of x_ij = scale q_i.k_j:
///   dV = P^T dZ,  dS_ij = P_ij (dz_i.v_j - D_i),  D_i = sum_j P_ij dz_i.v_j,
///   dQ = scale (dS * cap'(x)) K,  dK = scale (dS * cap'(x))^T Q.
/// (FlashAttention, Dao et al. 2022, appendix B.2.) The budgets allow for what kernels do, with u,
/// delta_i and B_i, the budget of z_i, as in rounding_budget.h: P and dS are rounded to the type
/// before they are multiplied, z before D is computed from it, and results in the end; products are
/// added up in fp32. With |a| the length of a vector,
///   e_ij = P_ij ((2 u + 4 delta_i + 2 n 2^-24) |dz_i.v_j - D_i| + (dv 2^-24 |v_j| + B_i) |dz_i|),
/// the budget of dq_i is scale sum_j (e_ij + 2 n 2^-24 |dS_ij|) |k_j| + u |dq_i|, that of dk_j
/// likewise with |q_i|, and that of dv_j is sum_i (2 u + 4 delta_i + 2 n 2^-24) P_ij |dz_i|
/// + u |dv_j|. In fp16 each rounded number is off by up to 2^-25 more.
/// `op` has the P that is differentiated: rows of it are softmaxes. `type` is that of the results.
/// O(n²) time, a band of rows of memory. Throws Cancelled.
Gradients gradients_of(const Operator& op, MatrixView dz, ElementType type, const Backend& backend,
                       Run& run);

/// Figures of an ImportedPlan whose file holds dZ and gradients: of each its relative error and the
/// rows that rounding does not explain, and sentences about them. Empty otherwise.
std::vector<Diagnostic> gradient_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
