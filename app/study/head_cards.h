// HeadCards are small looks at the heads of a source, for choosing one.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "study/requests.h"
#include "study/subject.h"

namespace fovea {

struct HeadCardKey {
  HeadKey head;
  Column column;  // whose error is shown
  friend bool operator==(const HeadCardKey&, const HeadCardKey&) = default;
};
struct HeadCard {
  Index layer = 0, head = 0;
  Matrix picture;  // P, max-pooled over columns; rows pooled too, or sampled when long
  bool sampled = false;
  double entropy = 0;           // mean over rows, nats, relative to log n: 1 is uniform
  double density = 0;           // share of the entries above 1/n
  std::optional<double> error;  // |Z~ - Z|_F / |Z|_F of the column
};

class HeadCards {
 public:
  HeadCards(Requests& requests, const Subject& subject) : requests_(requests), subject_(subject) {}

  using Heads = std::vector<std::pair<Index, Index>>;  // layer, head
  /// False: the same as before.
  bool want(Heads heads);
  /// Of the selected column; null: not there yet.
  std::shared_ptr<const HeadCard> card(Index layer, Index head);
  /// Requests the next missing card, when `idle`. Returns whether any card may have changed.
  bool update(bool idle);
  void clear();
  /// What failed is requested again.
  void forget_errors() { cards_.forget_errors(); }

 private:
  HeadCardKey key_of(Index layer, Index head) const;

  Requests& requests_;
  const Subject& subject_;
  Heads wanted_;
  std::size_t shown_ = 0;
  ResultCache<HeadCardKey, HeadCard> cards_{4096};
};

}  // namespace fovea
