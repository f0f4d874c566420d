// A Subject is what a Study looks at: the opened source, the Session, and what is pointed at.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "data/source.h"
#include "session/session.h"
#include "study/comparison.h"

namespace fovea {

// Keys hold everything that a result depends on: equal keys, equal results.

struct HeadKey {
  std::uint64_t source = 0;  // as of next_source_number()
  HeadChoice choice;
  friend bool operator==(const HeadKey&, const HeadKey&) = default;
};

/// Another number for each source that is read, also for the same file.
std::uint64_t next_source_number();

/// The numbers of sources that may come back, as the steps of a live stream do: what is known of
/// them is found again.
class SourceNumbers {
 public:
  std::uint64_t of(const std::shared_ptr<const Source>& source);
  /// What is known of the first holds for the second, which has more layers.
  void follow(const std::shared_ptr<const Source>& source,
              const std::shared_ptr<const Source>& grown) {
    known_.emplace_back(grown, of(source));
  }

 private:
  std::vector<std::pair<std::weak_ptr<const Source>, std::uint64_t>> known_;
};

/// Whether a Session of one source is one of the other too: as many layers, and in each as many
/// heads and tokens, of Q, K and V or of an attention matrix.
bool same_shape(const Source& a, const Source& b);

/// What a computation depends on, or what is found of a head for a column.
struct ComputeKey {
  HeadKey head;
  Column column;                        // what without_head() returns: the head is above
  std::optional<HeadKey> tree_of = {};  // another head, whose learned tree is kept
  friend bool operator==(const ComputeKey&, const ComputeKey&) = default;
};

/// What a comparison depends on: the computation, and that of exact attention.
struct ComparisonKey {
  ComputeKey approximate, exact;
  friend bool operator==(const ComparisonKey&, const ComparisonKey&) = default;
};

/// A pair under the pointer or the crosshair. Where a panel has only queries `key` is -1.
struct PointedPair {
  Index query = -1, key = -1;  // -1: none
  int column = 0;
  friend bool operator==(const PointedPair&, const PointedPair&) = default;
};

struct Subject {
  std::shared_ptr<const Source> source;  // null: nothing is open
  std::uint64_t source_number = 0;
  Session session;
  int selected_column = 0;
  PointedPair pointed;
  std::optional<Index> worst_query;         // of the selected column; empty if no error is known
  std::optional<PointedPair> chosen_block;  // the block of a rank map that holds this pair
  std::optional<std::pair<IndexRange, IndexRange>> selection;  // queries, keys
  std::optional<Comparison> comparison;  // no part of the Session: a look, like a selection
  int panel_pixels = 256;  // the side of a panel on screen: finer rasters show no more
  /// What is in sight of the canvas.
  IndexRange rows_in_sight{0, std::numeric_limits<Index>::max()}, columns_in_sight = rows_in_sight;
  bool dark = true;

  /// The lengths of the layer. 0 if nothing is open.
  Lengths lengths() const;
  /// The source holds an attention matrix alone: there is nothing to compute, only to look at.
  bool shows_matrix() const;
  HeadKey head() const;
  /// The pointed query, else the pinned one.
  std::optional<Index> chosen_query() const;
  /// The query of panels that show a single one: the chosen query, else the middle.
  Index shown_query() const;
  /// The query whose keys are listed: the chosen one, else the selected column's worst one, else
  /// the middle.
  Index listed_query() const;
  /// The query whose surroundings are computed first.
  Index focus_row() const;
};

}  // namespace fovea
