// A synthetic source is a head made from a formula: "synthetic:NAME?n=...&d=...&seed=...".
//
// Further keys: heads (1), dv (= d). Numbers are drawn with data/random.h, so a spec always gives
// the same heads. x ~ N(0, I_d) below; |x| = 1 says that it is then divided by its length. The
// scale is 1/sqrt(d); "logit" below includes it.
//
//   hmatrix    H-Transformer-1D, Eq. 11-12: an attention matrix alone, A_ij = exp(S_ij) with
//              S_ij = 2 exp(-(i-j)^2) - 1, not normalised. n = 16, at most 4096. No d, dv, seed.
//   gaussian   q, k, v ~ N(0, I). n = 1024, d = 64.
//   clusters   Tokens of c = round(sqrt n) kinds in random order. A token of kind g has
//              q, k = r (m_g + x / (4 sqrt d)) with an x of their own each, |m_g| = 1 and r^2 = (ln
//              c + 3) sqrt d, so that the logit of a pair of one kind is about ln c + 3 and its
//              share of the row e^3 : 1. v_i = y_g + x / 4, y_g ~ N(0, I). Tree and hash routing
//              find the kinds. n = 1024, d = 64.
//   smooth     q_i = k_i = r u(i/n) / |u| with
//              u_c(t) = sum_{f=0..8} (a_fc cos 2 pi f t + b_fc sin 2 pi f t),
//              normal a, b and r^2 = 8 sqrt d: the logit is 8 on the diagonal and falls off
//              slowly, so that far blocks have low rank. v likewise with r = sqrt(dv).
//              n = 1024, d = 64.
//   needle     One large entry a row, at j = pi(i) of a random permutation: k_j = r (u_j, -b),
//              q_i = r (u_pi(i), b), |u_j| = 1 in the first d - 1 coordinates, b = 3,
//              r^2 = (ln n + 3) sqrt d. The last coordinate shifts a row as a whole, which the
//              softmax does not see, but queries and keys then point away from each other: neither
//              locality nor hashing finds the needle, and alpha is near n, the hard case of
//              HyperAttention's lower bound. v ~ N(0, I). n = 1024, d = 64, at least 2.
//   golden     The 8 x 2 example of the variants reference: with a_i = ((3i) mod 5) - 2 and
//              b_i = ((2i+1) mod 7) - 3, q_i = (a_i, b_i)/2, k_i = (b_i, a_(7-i))/2,
//              v_i = (i, (-1)^i), scale 1/sqrt 2. No parameters.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "data/source.h"

namespace fovea {

inline constexpr std::string_view synthetic_prefix = "synthetic:";

/// The longest sequence that Fovea accepts.
inline constexpr Index most_tokens = 131072;

/// Throws UsageError with the names or keys that exist for a spec that is not valid, and Cancelled.
Source make_synthetic(const std::string& spec, const std::stop_token& stop = {});

}  // namespace fovea
