// A Plan says what the effective attention matrix P is, without computing it: which pairs of query
// and key are evaluated, at which level of the token pyramid and with which weight, or which tree
// nodes they share. It is what the window draws, what cost is counted from and what a back end
// runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "data/band.h"
#include "data/imported_result.h"
#include "data/lengths.h"
#include "data/pair_mask.h"
#include "data/recurrence.h"
#include "plan/chunks.h"
#include "plan/rounded_head.h"
#include "plan/structure.h"

namespace fovea {

/// Every pair of a row position and a column position of its Pass that lies in the band and that
/// the Pass does not leave out.
struct Tile {
  IndexRange rows, cols;  // positions in Pass::rows and Pass::cols
  Band band = {};         // on indices of queries and keys, so only used at level 0
};

/// A Pass is one set of tiles over one ordering of queries and one of keys.
/// At level l an index names the cluster of tokens [index << l, (index + 1) << l), cut off at their
/// number: its key is the mean of its keys, its value the mean of its values.
struct Pass {
  int query_level = 0, key_level = 0;
  std::vector<std::int32_t> rows;  // row position -> query or query cluster; empty means identity
  std::vector<std::int32_t> cols;  // column position -> key or key cluster; empty means identity
  /// How many keys a column stands for: its exp is multiplied by this number. Empty means the
  /// number of tokens of the cluster, which is 1 at level 0.
  std::vector<float> weight;
  /// Row ranges of two tiles are equal or disjoint; tiles of equal row ranges are adjacent.
  std::vector<Tile> tiles;
  std::string unit = {};  // what one tile is called where a pair is explained: "block"
  /// Pairs that meet in one of these are left out: an earlier pass has counted them. Only at level
  /// 0, with an order of columns.
  std::vector<std::shared_ptr<const Chunks>> earlier = {};

  /// Whether query i and key j, which some tile has, are left out.
  bool leaves_out(Index i, Index j) const {
    for (const auto& chunks : earlier)
      if (chunks->meet(i, j)) return true;
    return false;
  }
};

/// How a cluster of queries is represented at query_level > 0.
enum class CoarseQuery { first, mean };

/// What rows of P are divided by if it is not their own sum (HyperAttention, algorithm 2).
struct RowEstimates {
  std::vector<double>
      log_sums;  // [nq] natural logarithms, finite; empty if rows have their own sums
  double floored =
      0;              // share in [0, 1] of the rows of which the sampled part was raised to a floor
  double capped = 0;  // share in [0, 1] of the sampled weights that were cut off at a cap
  /// The pairs whose weights were summed exactly, each in one tile at level 0: the mask M of the
  /// paper. They need not be pairs of P.
  std::vector<Pass> exactly = {};
  bool empty() const { return log_sums.empty(); }
};

/// One softmax over the union of all passes: P_ij = w_ij exp(S_IJ) / sum of the same over j.
/// No pair (i, j) belongs to two tiles. A query in no tile has Z = 0, lse = -inf.
/// With estimates of the row sums, P_ij = w_ij exp(S_IJ - log_sums_i): rows need not sum to 1,
/// lse_i is log_sums_i, and entries and Z beyond the range of a float are infinite.
struct TilePlan {
  std::vector<Pass> passes;
  CoarseQuery coarse_query = CoarseQuery::first;
  RowEstimates row_estimates = {};
};

/// Tree attention without logits (Treeformer TC): P_ij = sum over depths l of
/// alpha_l [query i and key j share the node at depth l] / |keys of that node|.
/// A node without (admissible) keys contributes 0. The node at depth l is the leaf divided by the
/// leaves below a node of that depth.
struct NodePlan {
  std::vector<int> branching;            // [h]
  std::vector<std::int32_t> query_leaf;  // [nq]
  std::vector<std::int32_t> key_leaf;    // [nk]
  std::vector<float> alpha;              // [h + 1], root first
};

/// One softmax over other vectors than the head's queries and keys, whose columns may be mixtures
/// of tokens: L = softmax(scale queries keys^T) over the tiles. Its first `own` columns are the
/// tokens themselves, all of them or none. Then come mixtures, in blocks of `block`: the value of
/// column own + I block + t is the sum over J of mix(I, J) v_(J block + t), for those tokens that
/// exist. So
///   P_ij = L_ij [j < own] + sum over I of L_(i, own + I block + j mod block) mix(I, j div block),
/// with rows that need not sum to 1 and entries that may be negative, as those of `mix` are.
struct ProjectedPlan {
  TilePlan tiles;        // of rows and columns that are positions below queries.rows()
  Matrix queries, keys;  // [N, d'], N >= nq and all columns; rows without a meaning are 0
  double scale = 1;
  Index own = 0, block = 1;
  Matrix mix = {};  // [blocks of mixtures, blocks of tokens]; empty means own = nk
  Index mixtures() const { return mix.rows() * block; }
};

/// How a FeaturePlan maps a query or key x to positive features.
enum class FeatureMap {
  elu,         // phi_r(x) = elu(x_r) + 1
  exponential  // phi_r(x) = exp(g_r . x^ - |x^|^2 / 2) / sqrt(m), x^ = x sqrt(scale)
};

/// P_ij = phi(q_i) . phi(k_j) / sum over j of the same: of all keys, or under a causal mask of
/// those with j <= i + nk - nq. Time and memory are linear in both numbers.
struct FeaturePlan {
  FeatureMap map = FeatureMap::elu;
  Matrix directions = {};  // g [m, d] of exponential features
  Index features(Index d) const { return map == FeatureMap::elu ? d : directions.rows(); }
};

/// Several softmaxes side by side, weighted by gates (NSA):
///   P_ij = sum over b of g_ib P^b_ij,
/// so rows sum to the gates of the branches in which the query attends a key. Branches may share
/// pairs. Together they have every pair that the head admits, and gates are positive.
struct GatedPlan {
  std::vector<TilePlan> branches;
  Matrix gates;  // g [nq, branches]
};

/// P of a recurrence (data/recurrence.h) with the head's queries and keys. Entries may be negative,
/// and rows have no sum that they are divided by.
struct RecurrentPlan {
  std::shared_ptr<const Recurrence> recurrence;
  bool unit_vectors = false;  // queries and keys are divided by their lengths first
};

/// What another program computed: Z and P as far as they are known. Without P, P is the softmax
/// over the kept pairs; without Z, Z is P V.
struct ImportedPlan {
  std::shared_ptr<const ImportedResult> result;
  /// The pairs with weight, as far as the mask of the Plan admits them; nothing if they are not
  /// known. Their order is that of the tokens.
  std::optional<Pass> kept = {};
};

/// Which tensors of the structure say into which group (a leaf, a bucket) each token was sorted.
struct TokenGroups {
  std::string kind;  // "leaf", "bucket"; empty if tokens are not sorted into groups
  /// Names of integer tensors of the structure: [nq] and [nk], or [rounds, n], of which the first
  /// is shown.
  std::string queries, keys;
  std::vector<int> branching = {};  // of the tree above the groups, root first; empty if no tree
  Index count = 0;                  // of all groups, whether a token is in them or not
};

using PlanForm = std::variant<TilePlan, NodePlan, ProjectedPlan, FeaturePlan, GatedPlan,
                              RecurrentPlan, ImportedPlan>;

struct Plan {
  Lengths lengths = {};  // of the head
  bool causal = false;
  Index window = 0;  // of the head: the bands of all tiles lie in it; 0 if none
  /// Pairs that it does not admit count in no tile: the head's mask, narrowed to the selected pairs
  /// if the plan selects single ones. Only plans whose levels are all 0 have one.
  std::shared_ptr<const PairMask> mask = {};
  /// The head's own mask, or null if it has none; without a value it is `mask`.
  std::optional<std::shared_ptr<const PairMask>> head_mask = {};
  /// The queries, keys and values that it computes with, or null if they are those of the head.
  /// Only plans of tiles have one.
  std::shared_ptr<const RoundedHead> rounded = {};
  PlanForm form;
  Structure structure = {};
  TokenGroups groups = {};
  /// Name of the integer tensor that lists the keys behind the weighted columns, each as often as
  /// it was drawn; empty if there is no such tensor, or if it lists the draws of several parts
  /// together.
  std::string samples = {};
  /// All tokens together decided the structure (a median tree, sorted hashes). Even under a causal
  /// mask, later tokens then influence which pairs meet.
  bool fitted_to_all_tokens = false;
  /// Multiply-adds of planning itself: hashing (2 n d r), routing (n d for every level and side; 0
  /// for leaves that were given). Building a tree is not counted, since the paper learns it
  /// beforehand.
  double planning_multiply_adds = 0;
  double planning_bytes = 0;  // of what planning holds beside the tiles: the weights of a tree
  std::vector<std::string> notes =
      {};  // what the user must know: "one block holds all tokens: computed exactly"

  /// The pairs of exact attention, without the mask.
  Band band() const { return band_of(causal, window, lengths.offset()); }
  Index queries() const { return lengths.queries; }
  Index keys() const { return lengths.keys; }

  /// The form if it is this one, else null: for what only this form has. What every form decides
  /// for itself is a visit_form (plan/visit_form.h).
  template <class Form>
  const Form* as() const {
    return std::get_if<Form>(&form);
  }
  template <class Form>
  Form* as() {
    return std::get_if<Form>(&form);
  }
};

/// Number of clusters of 2^level tokens that n tokens fill.
constexpr Index clusters(Index n, int level) {
  return (n + (Index{1} << level) - 1) >> level;
}

/// Tokens of cluster `index` at `level`.
constexpr IndexRange cluster_tokens(Index index, int level, Index n) {
  const Index begin = index << level, end = (index + 1) << level;
  return {begin, end < n ? end : n};
}

/// The orders, weights and tiles of a pass in bytes.
double bytes_of(const Pass& pass);

/// The mask of the head; null if it admits all pairs.
const PairMask* head_mask(const Plan& plan);

/// Whether entries of P are known. They are not if another program computed Z and gave only Z.
bool has_entries(const Plan& plan);

/// Whether another program computed Z or P: such a result is not timed.
bool is_read(const Plan& plan);

/// Whether entries of P may be negative, as those of recurrences, mixtures and TC-attention may.
bool may_be_negative(const Plan& plan);

/// Throws Error (an internal error) unless all tiles lie inside their orders and no pair is covered
/// twice. O(pairs); for tests.
void check_disjoint(const Plan& plan);

}  // namespace fovea
