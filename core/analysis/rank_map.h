// A RankMap is the numerical rank of each block of a partition (H-Transformer-1D, section 4).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "data/matrix.h"

namespace fovea {

enum class Partition { hierarchy, uniform };

/// Whose blocks are decomposed: P, A = exp(S), the logits S, or the error P~ - P.
enum class RankSubject { attention, unnormalised, logits, error };
std::string to_text(RankSubject subject);

struct RankBlock {
  IndexRange rows, cols;
  int level = 0;  // hierarchy: 0 on the diagonal, then the sibling level
  int rank = 0;
  std::vector<float> singular_values;  // descending
  Index resolved = 0;  // the first so many; those after are equal, a bound on what they sum to
};

struct RankMap {
  Index n = 0;
  Partition partition = Partition::hierarchy;
  std::vector<RankBlock> blocks;  // tile [0, n) x [0, n)
  Index left_to_cpu = 0;          // blocks that the back end's device gave up on
};

struct RankOptions {
  Index leaf = 16;  // smallest block side
  double tolerance = 1e-3;
  bool relative = false;  // sigma_i > eps sigma_1; else the paper's tail sum
  Partition partition = Partition::hierarchy;
};

/// Any matrix offered as rectangles: P, A, the logits, an error.
using Entries = std::function<Matrix(IndexRange rows, IndexRange cols)>;

/// Larger blocks are refused: their decomposition would take minutes.
inline constexpr Index largest_rank_block = 2048;

/// Throws UnavailableError where a block would be larger: before anything is computed.
void require_decomposable(Index n, const RankOptions& options);

/// Singular values of every block by the back end, a batch of bounded memory at a time; `entries`
/// is called on this thread. Then ranks at the tolerance. Throws as require_decomposable does.
RankMap map_ranks(Index n, const Entries& entries, const RankOptions& options,
                  const Backend& backend, Run& run);

/// What a reader of the map should know: blocks left to the CPU. Empty: nothing.
std::string note_of(const RankMap& map);

/// The same map at another tolerance; no new decomposition.
void set_tolerance(RankMap& map, double tolerance, bool relative);

/// r = min{ r : sum_{i>r} sigma_i < eps }, or the count of sigma_i > eps sigma_1.
int numerical_rank(const std::vector<float>& singular_values, double tolerance, bool relative);

/// Entries to store: a block of rank r keeps r (rows + cols) or all of it, whichever is less.
/// Blocks of full rank and diagonal leaves keep all.
double stored_entries(const RankMap& map);
double stored_entries(const RankMap& map, const RankBlock& block);

}  // namespace fovea
