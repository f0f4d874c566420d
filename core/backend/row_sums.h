// RowSums are what entries of P are divided by: log2 of the softmax sum of each row. They are found
// when they are first needed; for a dense plan only those of the needed rows.
#pragma once

#include <span>
#include <vector>

#include "backend/bound_tiles.h"
#include "backend/workers.h"

namespace fovea {

class RowSums {
 public:
  explicit RowSums(Index queries)
      : log2_sums_(queries), known_(queries, false), unknown_(queries) {}

  bool mostly_unknown() const { return 2 * unknown_ > std::ssize(known_); }
  /// How many of these queries have no sum yet.
  Index unknown_of(std::span<const std::int32_t> queries) const;

  /// Finds the sums of at least these queries. What was found remains when the rest is cancelled.
  void find(const BoundTiles& tiles, std::span<const std::int32_t> queries, Workers& workers,
            Run& run);

  /// Sums that were found in passing: of all queries, or of these.
  void keep_all(std::vector<float> log2_sums);
  void keep(std::span<const std::int32_t> queries, std::span<const float> log2_sums);

  /// [nq], valid for the queries whose sums were found.
  const std::vector<float>& log2() const { return log2_sums_; }

 private:
  void find_in_pieces(const BoundTiles& tiles, std::span<const std::int32_t> queries,
                      Workers& workers, Run& run);

  std::vector<float> log2_sums_;  // [nq]
  std::vector<bool> known_;       // [nq]
  Index unknown_;
};

}  // namespace fovea
