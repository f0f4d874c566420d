// CompressedEntries are keys of a head that are not tokens. Each stands for a run of tokens, as the
// compressed entries of CSA and HCA do (DeepSeek-V4). They come after the tokens, in the order in
// which they close.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/pair_mask.h"
#include "data/selection.h"

namespace fovea {

struct CompressedEntries {
  Index tokens = 0;                    // keys before the entries
  std::vector<IndexRange> stands_for;  // [entries] the tokens of each
  bool causal = false;                 // no query sees a later token, nor an entry with one
  Index window = 0;                    // of tokens that a query sees; 0 for all
  std::shared_ptr<const Selection> chosen =
      {};                                     // [queries, entries] that may be seen; null for all
  std::shared_ptr<const PairMask> mask = {};  // of the file: pairs that may be seen; null for all
  /// Which entries a query sees: those that have closed, under a causal mask. Results of other
  /// programs may see all from the start, or none.
  enum class Seen { closed, all, none } seen = Seen::closed;

  Index count() const { return std::ssize(stands_for); }
  Index keys() const { return tokens + count(); }
  bool has(Index key) const { return key >= tokens && key < keys(); }
  IndexRange tokens_of(Index key) const { return stands_for[key - tokens]; }
  /// How many entries the query that is token t sees, if all are chosen. An entry has closed if all
  /// of its tokens are up to t.
  Index seen_at(Index t) const;
  /// "4 compressed entries".
  std::string count_text() const;
  /// "entry 5".
  std::string name(Index key) const;
  /// "entry 5: tokens 20–23".
  std::string description(Index key) const;
};

/// Throws InputError unless every entry stands for at least one of the tokens, and begins and ends
/// ascend. `where` names what holds the numbers.
void check_entries(const CompressedEntries& entries, const std::string& where);

/// The pairs of queries that are the last tokens, made row by row: the tokens of the causal mask
/// and the window, and the entries that are seen and chosen; of these pairs those that the mask
/// admits.
std::shared_ptr<const PairMask> pairs_of(std::shared_ptr<const CompressedEntries> entries,
                                         Index queries);

}  // namespace fovea
