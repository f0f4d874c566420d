// What a Study knows of the place under the cursor, of a selection and of the other heads.
#include <algorithm>

#include "plan/leaves.h"
#include "study/study_ask.h"

namespace fovea {

// Of the query that is shown; of exact attention where `column` is -1 or a column of it.
const Shelf<RowKey, RowReading>::Answer* Study::ask_row(int column) {
  const auto c = static_cast<std::size_t>(column);
  const bool exact = column < 0 || (exact_.computation && column_keys_[c] == exact_key_);
  const RowKey key{exact ? exact_key_ : column_keys_[c], shown_query()};
  ask(rows_, exact ? "row exact" : "row " + std::to_string(column), priority::reading, key,
      [key, computation = exact ? exact_.computation : columns_[c].computation](
          const Backend&, Run& run) { return read_row(*computation, key.query, run); });
  return rows_.find(key);
}

void Study::update_readings() {
  const Index n = problem_->n();
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
  if (const auto* answer = ask_row(selected_column_); answer && answer->result)
    emit row_read(answer->result);
  if (!exact_.computation) return;
  if (const auto* answer = ask_row(-1); answer && answer->result)
    emit exact_row_read(answer->result);
  if (!selection_) return;
  const SelectionKey part{column_keys_[chosen], exact_key_, selection_->first, selection_->second};
  ask(selections_, "selection", priority::reading, part,
      [part, a = columns_[chosen].computation, e = exact_.computation](const Backend&, Run& run) {
        return read_selection(*a, *e, part.rows, part.cols, run);
      });
  if (auto result = selections_.result(part)) emit selection_read(result);
}

namespace {

std::vector<Index> members(std::span<const std::int32_t> leaf_of, IndexRange leaves) {
  std::vector<Index> tokens;
  for (std::size_t i = 0; i < leaf_of.size(); ++i)
    if (leaves.contains(leaf_of[i])) tokens.push_back(static_cast<Index>(i));
  return tokens;
}

}  // namespace

// Other parameters, other leaves: the marks are of the computation that is shown.
void Study::update_marks() {
  const auto column = static_cast<std::size_t>(chosen_leaves_ ? chosen_leaves_->column : 0);
  const auto computation =
      chosen_leaves_ && column < columns_.size() ? columns_[column].computation : nullptr;
  if (computation && computation == marked_of_) return;
  marked_of_ = computation;
  marked_queries_.clear();
  marked_keys_.clear();
  if (!computation) return;
  const auto leaves = leaves_of(computation->op->plan());
  if (!leaves) return;
  marked_queries_ = members(leaves->queries, chosen_leaves_->leaves);
  marked_keys_ = members(leaves->keys, chosen_leaves_->leaves);
}

Index Study::leaf_count(int column) const {
  const auto c = static_cast<std::size_t>(column);
  if (column < 0 || c >= columns_.size() || !columns_[c].computation) return 0;
  const auto leaves = leaves_of(columns_[c].computation->op->plan());
  if (!leaves) return 0;
  return Index{std::max(std::ranges::max(leaves->queries), std::ranges::max(leaves->keys))} + 1;
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
