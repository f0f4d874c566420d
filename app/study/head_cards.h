// HeadCards are small looks at the heads of a source, and what each of them does, for choosing one.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/head_measures.h"
#include "panels/head_card.h"
#include "study/requests.h"
#include "study/subject.h"

namespace fovea {

class HeadCards {
 public:
  HeadCards(Requests& requests, const Subject& subject) : requests_(requests), subject_(subject) {}

  using Head = std::pair<Index, Index>;  // layer, head
  using Heads = std::vector<Head>;
  /// Chooses the heads whose cards and errors are requested, in this order: first the cards of
  /// `cards_first` heads, then all errors, then the other cards. Returns whether the choice
  /// changed.
  bool choose(Heads heads, std::size_t cards_first);
  /// The card of a head, or null if it is not there yet. While a source goes on, the card of an
  /// earlier step stands in.
  std::shared_ptr<const HeadCard> card(Index layer, Index head);
  /// The error of the selected column; nothing if it is not there yet, or the column has a learned
  /// tree: trees that all heads had to learn would keep the engine busy for minutes.
  std::optional<double> error(Index layer, Index head);
  /// All heads are measured, after what is chosen, while what this returns exists.
  std::shared_ptr<const void> measure_heads();
  /// What a head does, or null if it is not measured yet. While a source goes on, the measures of
  /// an earlier step stand in.
  std::shared_ptr<const MeasuredHead> measured(Index layer, Index head);
  /// Why it cannot be measured; empty if it can, or is not measured yet.
  std::string why_not_measured(Index layer, Index head);
  /// How many of the chosen heads still lack their card, or their error.
  std::size_t missing_cards();
  std::size_t missing_errors();
  /// Requests what is missing first, when `idle`. Returns whether anything may have changed.
  bool update(bool idle);

 private:
  using Error = std::optional<double>;
  /// What is known of one head. Of many heads each has a small part of the memory.
  struct Known {
    explicit Known(Requests& requests)
        : cards(requests, 1), errors(requests, 16), measures(requests, 1) {}
    ResultCache<HeadKey, const HeadCard> cards;
    ResultCache<ComputeKey, const Error> errors;
    ResultCache<HeadKey, const MeasuredHead> measures;
  };
  Known& known(const Head& head);
  HeadKey key_of(const Head& head) const;
  /// The column whose errors are found; empty if none are.
  std::optional<Column> column() const;
  /// Whether any is missing.
  template <class Key, class Result, class Make>
  bool request(std::span<const Head> of, Key key, ResultCache<Key, Result> Known::*cache, Make make,
               bool idle);
  bool request_card(std::span<const Head> of, bool idle);
  bool request_error(bool idle);
  bool request_measures(bool idle);

  Requests& requests_;
  const Subject& subject_;
  Heads chosen_;
  std::size_t cards_first_ = 0;
  std::weak_ptr<const void> measuring_;  // expired: nobody wants measures
  bool complete_ = true;                 // nothing was missing in the last update
  std::size_t of_each_ = 1;              // cards that are kept of a head
  std::map<Head, Known> known_;          // none is erased: requests hold where they belong
};

}  // namespace fovea
