// HeadCards are small looks at the heads of a source, for choosing one.
#pragma once

#include <utility>
#include <vector>

#include "panels/head_card.h"
#include "study/requests.h"
#include "study/subject.h"

namespace fovea {

class HeadCards {
 public:
  HeadCards(Requests& requests, const Subject& subject)
      : subject_(subject), cards_(requests, 4096) {}

  using Heads = std::vector<std::pair<Index, Index>>;  // layer, head
  /// Chooses the heads whose cards are requested. False: they are the same as before.
  bool choose(const Heads& heads);
  /// With the error of the selected column, unless its tree is learned; null: not there yet. Of a
  /// source that went on that of an earlier step, until there is a newer one.
  std::shared_ptr<const HeadCard> card(Index layer, Index head);
  /// Requests the next missing card, when `idle`. Returns whether any card may have changed.
  bool update(bool idle);

 private:
  ComputeKey key_of(Index layer, Index head) const;

  const Subject& subject_;
  Heads chosen_;
  std::size_t complete_ = 0;  // chosen heads in the last update, if none lacked its card
  ResultCache<ComputeKey, const HeadCard> cards_;
};

}  // namespace fovea
