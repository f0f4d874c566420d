// What a Study knows of the place under the cursor, of a selection and of the other heads.
#include <algorithm>

#include "gui/study_ask.h"

namespace fovea {

void Study::update_readings() {
  const Index n = problem_->n(), query = shown_query();
  const auto inside = [&](Index i) { return i >= 0 && i < n; };
  const auto column = static_cast<std::size_t>(std::max(0, hovered_column_));
  if (inside(hovered_query_) && inside(hovered_key_) && column < columns_.size() &&
      columns_[column].computation && exact_.computation) {
    const PairKey key{column_keys_[column], exact_key_, hovered_query_, hovered_key_};
    ask(pairs_, "pair", priority::reading, key,
        [key, a = columns_[column].computation, e = exact_.computation](const Backend&, Run& run) {
          return read_pair(*a, *e, key.query, key.key, run);
        });
    if (auto result = pairs_.result(key)) emit pair_read(result);
  }
  const auto chosen = static_cast<std::size_t>(selected_column_);
  if (chosen >= columns_.size() || !columns_[chosen].computation) return;
  const RowKey row{column_keys_[chosen], query};
  ask(rows_, "row", priority::reading, row,
      [row, a = columns_[chosen].computation](const Backend&, Run& run) {
        return read_row(*a, row.query, run);
      });
  if (auto result = rows_.result(row)) emit row_read(result);
  if (!selection_ || !exact_.computation) return;
  const SelectionKey part{column_keys_[chosen], exact_key_, selection_->first, selection_->second};
  ask(selections_, "selection", priority::reading, part,
      [part, a = columns_[chosen].computation, e = exact_.computation](const Backend&, Run& run) {
        return read_selection(*a, *e, part.rows, part.cols, run);
      });
  if (auto result = selections_.result(part)) emit selection_read(result);
}

void Study::update_cards() {
  const Column column = columns_[static_cast<std::size_t>(selected_column_)].column;
  bool some = false;
  for (const auto& [layer, head] : wanted_cards_) {
    const HeadCardKey key{source_number_, layer, head, session_.causal, session_.scale, column};
    if (cards_.find(key)) continue;
    some = true;
    if (!settled()) break;
    ask(cards_, "card", priority::card, key,
        [key, source = source_](const Backend& backend, Run& run) {
          return look_at_head(*source, key, backend, run);
        });
    break;  // one at a time: the next is asked for when it arrives
  }
  if (some || cards_shown_ != wanted_cards_.size()) emit cards_changed();
  cards_shown_ = some ? 0 : wanted_cards_.size();
}

}  // namespace fovea
