// A RankMap is the numerical rank of each block of a partition (H-Transformer-1D, section 4).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "data/lengths.h"
#include "data/matrix.h"

namespace fovea {

enum class Partition { hierarchy, uniform };

/// The matrix whose blocks are decomposed: P, A = exp(S), the logits S, or the error P~ - P.
enum class RankSubject { attention, unnormalised, logits, error };
std::string to_text(RankSubject subject);

struct RankBlock {
  IndexRange rows, cols;
  int level = 0;  // hierarchy: 0 on the diagonal, then the sibling level
  int rank = 0;
  std::vector<float> singular_values;  // descending
  /// Number of exact values; the rest are equal, and their sum bounds the true sum.
  Index resolved = 0;
};

struct RankMap {
  Lengths lengths;
  Partition partition = Partition::hierarchy;
  bool causal = false;            // dense storage holds only the pairs of the mask
  std::vector<RankBlock> blocks;  // tile [0, nq) x [0, nk)
  Index left_to_cpu = 0;          // blocks that the device could not decompose
};

struct RankOptions {
  Index leaf = 16;  // smallest block side
  double tolerance = 1e-2;
  bool relative = false;  // sigma_i > eps sigma_1; else the paper's tail sum
  Partition partition = Partition::hierarchy;
  bool causal = false;  // the matrix is 0 where j > i + nk - nq
};

/// Any matrix, read by rectangles: P, A, the logits, an error.
using Entries = std::function<Matrix(IndexRange rows, IndexRange cols)>;

/// Larger blocks are an error: their decomposition would take minutes.
inline constexpr Index largest_rank_block = 2048;

/// Throws UnavailableError if a block would be larger, and UsageError for a hierarchy of unequal
/// lengths, before anything is computed.
void require_decomposable(Lengths lengths, const RankOptions& options);

/// Singular values of every block by the back end, a batch of bounded memory at a time; `entries`
/// is called on this thread. Then ranks at the tolerance. Throws as require_decomposable does.
RankMap map_ranks(Lengths lengths, const Entries& entries, const RankOptions& options,
                  const Backend& backend, Run& run);

/// A note for the reader of the map about blocks left to the CPU; empty if there are none.
std::string note_of(const RankMap& map);

/// Finds the ranks at another tolerance without a new decomposition.
void set_tolerance(RankMap& map, double tolerance, bool relative);

/// r = min{ r : sum_{i>r} sigma_i < eps }, or the count of sigma_i > eps sigma_1.
int numerical_rank(const std::vector<float>& singular_values, double tolerance, bool relative);

/// Entries that a dense matrix stores; for a causal one only the pairs of the mask.
double dense_entries(const RankMap& map);
double dense_entries(const RankMap& map, const RankBlock& block);

/// Entries to store: a block of rank r keeps r (rows + cols) entries or those of a dense matrix,
/// whichever are fewer. Blocks of full rank and diagonal leaves are stored densely.
double stored_entries(const RankMap& map);
double stored_entries(const RankMap& map, const RankBlock& block);

/// dense_entries / stored_entries; infinite if every block has rank 0, as nothing is stored then.
double compression(const RankMap& map);

}  // namespace fovea
