#include "study/head_cards.h"

#include <algorithm>
#include <tuple>

#include "variants/learned_tree.h"

namespace fovea {
namespace {

constexpr std::size_t most_cards = 4096;  // some 10 KB each; more only of more heads

/// The result of a key, else the last one of the same head in an earlier step.
template <class Key, class Result, class Same>
std::shared_ptr<Result> newest(ResultCache<Key, Result>& cache, const Key& key, Same same) {
  if (auto known = cache.result(key)) return known;
  for (const auto& answer : cache.answers())  // the last used first
    if (answer.result && same(answer.key)) return answer.result;
  return nullptr;
}

}  // namespace

bool HeadCards::choose(Heads heads, std::size_t cards_first) {
  std::size_t all = 0;
  for (const Layer& layer : subject_.source->layers) all += std::size_t(layer.heads());
  of_each_ = std::max<std::size_t>(1, most_cards / all);
  cards_first = std::min(cards_first, heads.size());
  const bool other_cards = std::exchange(cards_first_, cards_first) != cards_first;
  return std::exchange(chosen_, std::move(heads)) != chosen_ || other_cards;
}

HeadCards::Known& HeadCards::known(const Head& head) {
  Known& known = known_.try_emplace(head, requests_).first->second;
  known.cards.set_capacity(of_each_);
  return known;
}

HeadKey HeadCards::key_of(const Head& head) const {
  HeadKey key = subject_.head();
  std::tie(key.choice.layer, key.choice.head) = head;
  return key;
}

std::optional<Column> HeadCards::column() const {
  const auto& columns = subject_.session.columns;
  const auto selected = static_cast<std::size_t>(subject_.selected_column);
  if (selected >= columns.size()) return {};
  const Column column = without_head(columns[selected]);
  if (is_reference(column.variant) || learned_steps(find_variant(column.variant), column.values))
    return {};
  return column;
}

std::shared_ptr<const HeadCard> HeadCards::card(Index layer, Index head) {
  const HeadKey key = key_of({layer, head});
  return newest(known({layer, head}).cards, key,
                [&](const HeadKey& other) { return other.choice == key.choice; });
}

std::optional<double> HeadCards::error(Index layer, Index head) {
  const std::optional<Column> of = column();
  if (!of) return {};
  const ComputeKey key{key_of({layer, head}), *of};
  const auto error = newest(known({layer, head}).errors, key, [&](const ComputeKey& other) {
    return other.head.choice == key.head.choice && other.column == key.column;
  });
  return error ? *error : std::nullopt;
}

std::size_t HeadCards::missing_cards() {
  return std::size_t(std::ranges::count_if(
      chosen_, [this](const Head& head) { return !known(head).cards.find(key_of(head)); }));
}

std::size_t HeadCards::missing_errors() {
  const std::optional<Column> of = column();
  if (!of) return 0;
  ComputeKey key{{}, *of};
  return std::size_t(std::ranges::count_if(chosen_, [&](const Head& head) {
    key.head = key_of(head);
    return !known(head).errors.find(key);
  }));
}

bool HeadCards::request_card(std::span<const Head> of, bool idle) {
  for (const Head& head : of) {
    const HeadKey key = key_of(head);
    auto& cards = known(head).cards;
    if (cards.find(key)) continue;
    if (idle)
      cards.ask({RequestKind::card}, key,
                [key, source = subject_.source](const Backend& backend, Run& run) {
                  return make_head_card(*source, key.choice, backend, run);
                });
    return true;
  }
  return false;
}

bool HeadCards::request_error(bool idle) {
  const std::optional<Column> of = column();
  if (!of) return false;
  ComputeKey key{{}, *of};
  for (const Head& head : chosen_) {
    key.head = key_of(head);
    auto& errors = known(head).errors;
    if (errors.find(key)) continue;
    if (idle)
      errors.ask({RequestKind::card}, key,
                 [key, source = subject_.source](const Backend& backend, Run& run) {
                   return head_error(*source, key.head.choice, key.column, backend, run);
                 });
    return true;
  }
  return false;
}

// One at a time: the next is requested when it arrives.
bool HeadCards::update(bool idle) {
  const std::span<const Head> all(chosen_);
  const bool missing = request_card(all.first(cards_first_), idle) || request_error(idle) ||
                       request_card(all.subspan(cards_first_), idle);
  const bool before = std::exchange(complete_, !missing);
  return !before || !complete_;
}

}  // namespace fovea
