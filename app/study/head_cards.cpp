#include "study/head_cards.h"

#include "variants/learned_tree.h"

namespace fovea {

bool HeadCards::choose(const Heads& heads) {
  return std::exchange(chosen_, heads) != heads;
}

ComputeKey HeadCards::key_of(Index layer, Index head) const {
  ComputeKey key{.head = subject_.head(), .column = {.variant = reference_variant().id}};
  key.head.choice.layer = layer;
  key.head.choice.head = head;
  const auto& columns = subject_.session.columns;
  if (subject_.selected_column >= static_cast<int>(columns.size())) return key;
  const Column& column = columns[static_cast<std::size_t>(subject_.selected_column)];
  // A tree that every head had to learn would keep the engine busy for minutes.
  if (!learned_steps(find_variant(column.variant), column.values))
    key.column = without_head(column);
  return key;
}

std::shared_ptr<const HeadCard> HeadCards::card(Index layer, Index head) {
  const ComputeKey key = key_of(layer, head);
  if (auto known = cards_.result(key)) return known;
  for (const auto& answer : cards_.answers())  // the last used first
    if (answer.result && answer.key.head.choice == key.head.choice &&
        answer.key.column == key.column)
      return answer.result;
  return nullptr;
}

// One at a time: the next is requested when it arrives.
bool HeadCards::update(bool idle) {
  bool missing = false;
  for (const auto& [layer, head] : chosen_) {
    const ComputeKey key = key_of(layer, head);
    if (cards_.find(key)) continue;
    missing = true;
    if (idle)
      cards_.ask({RequestKind::card}, key,
                 [key, source = subject_.source](const Backend& backend, Run& run) {
                   return make_head_card(*source, key.head.choice, key.column, backend, run);
                 });
    break;
  }
  const std::size_t before = std::exchange(complete_, missing ? 0 : chosen_.size());
  return missing || before != chosen_.size();
}

}  // namespace fovea
