// DrawnPairs are the pairs of query and key that somebody keeps by hand: rectangles, each of which
// includes or excludes its pairs, in the order in which they were drawn.
#pragma once

#include <string>
#include <vector>

#include "data/lengths.h"

namespace fovea {

struct DrawnRectangle {
  IndexRange queries, keys;
  bool includes = true;  // else it excludes
  friend bool operator==(const DrawnRectangle&, const DrawnRectangle&) = default;
};

/// The keys that consecutive queries have in common: ascending runs with gaps between them.
struct DrawnRows {
  IndexRange queries;
  std::vector<IndexRange> keys;
};

class DrawnPairs {
 public:
  /// Begins with all pairs, or with none.
  explicit DrawnPairs(bool all = false) : all_(all) {}

  /// "all !0-63/128-191 5/0-7": the tokens of queries, a slash and those of keys, first and last;
  /// one number is one token. An exclamation mark excludes. "all" comes first if it is there.
  /// Throws UsageError that names what cannot be read, and for more than `most` rectangles.
  static DrawnPairs from_text(const std::string& text);
  std::string text() const;

  /// The last rectangle decides; those that it covers are forgotten. Throws UsageError if there are
  /// `most` already.
  void add(const DrawnRectangle& rectangle);

  bool all() const { return all_; }
  const std::vector<DrawnRectangle>& rectangles() const { return rectangles_; }
  /// The rectangles that end beyond the head.
  Index beyond(Lengths lengths) const;
  /// Queries with a key, in ascending groups of equal keys. Time and memory: O(rectangles²).
  std::vector<DrawnRows> rows(Lengths lengths) const;

  static constexpr std::size_t most = 4096;
  friend bool operator==(const DrawnPairs&, const DrawnPairs&) = default;

 private:
  bool all_ = false;
  std::vector<DrawnRectangle> rectangles_;
};

}  // namespace fovea
