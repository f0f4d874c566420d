#include "study/continued_session.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "input/assets.h"
#include "sweep/sweep.h"
#include "views/views.h"

namespace fovea {
namespace {

/// The same head, whatever source is opened after the Session.
HeldHead named_head(HeldHead held, const Session& session) {
  if (held.source.empty()) {
    held.source = session.source;
    held.conditions = session.conditions;
  }
  return held;
}

/// A named head, once `source` is opened.
HeldHead continued_head(const HeldHead& held, const std::string& source) {
  std::error_code not_there;  // of a synthetic source, for one
  const bool same =
      held.source == source || std::filesystem::equivalent(held.source, source, not_there);
  return same ? HeldHead{.source = {}, .layer = held.layer, .head = held.head} : held;
}

/// The columns of a Session, with those that wait at the places where they were. The heads that
/// they hold are named.
std::vector<WaitingColumn> with_waiting(const Session& before, Index n_before,
                                        std::vector<WaitingColumn> waiting) {
  std::vector<WaitingColumn> all;
  for (std::size_t c = 0; c < before.columns.size(); ++c) {
    all.push_back({before.columns[c], n_before, c, label_of(before.columns, c)});
    if (auto& held = all.back().column.held) held = named_head(*held, before);
  }
  std::ranges::stable_sort(waiting, {}, &WaitingColumn::place);
  for (WaitingColumn& one : waiting)
    all.insert(all.begin() + std::ptrdiff_t(std::min(one.place, all.size())), std::move(one));
  for (std::size_t at = 0; at < all.size(); ++at) all[at].place = at;
  return all;
}

/// What a column becomes for `n` tokens of a source. Nothing if the source cannot show it.
std::optional<Column> fitted_column(const WaitingColumn& left, const std::string& source, Index n) {
  Column column = left.column;
  if (column.held && n != left.n) return {};  // heads of other tokens cannot be compared
  if (column.held) column.held = continued_head(*column.held, source);
  const Variant& variant = find_variant(column.variant);
  if (n > long_head && left.n <= long_head && !variant.quick && !variant.reference) return {};
  column.values = column.values == values_for_length(variant, left.n)
                      ? values_for_length(variant, n)
                      : fitted_values(column, left.n, n).values;
  return column;
}

/// The columns that fit; the others are added to `waiting`. Equal columns become one.
std::vector<Column> fitted_columns(const std::vector<WaitingColumn>& all, const std::string& source,
                                   Index n, std::vector<WaitingColumn>& waiting) {
  std::vector<Column> columns, taken;  // as they become, and as they were left
  for (const WaitingColumn& left : all) {
    if (std::ranges::find(taken, left.column) != taken.end()) continue;
    auto column = fitted_column(left, source, n);
    if (!column || std::ranges::find(columns, *column) != columns.end()) {
      waiting.push_back(left);
      continue;
    }
    taken.push_back(left.column);
    columns.push_back(*std::move(column));
  }
  return columns;
}

bool compares(const Column& column) {
  return !is_reference(column.variant);
}

}  // namespace

void follow_source(Session& session, const std::string& source) {
  for (Column& column : session.columns)
    if (column.held) column.held = continued_head(named_head(*column.held, session), source);
}

Session continued_session(const Session& before, Index n_before, const Source& source,
                          std::vector<WaitingColumn>& waiting) {
  Session session = first_session(source);
  const Layer& layer = source.layers[session.layer];
  const Session untouched = standard_session({}, n_before);
  session.settings = before.settings;
  session.settings.ranges.clear();
  session.span_choice = before.span_choice;
  session.replaced_heads = before.replaced_heads;
  follow_length(session.settings, before.settings, n_before, layer.keys());
  const bool touched = before.columns != untouched.columns || !waiting.empty();
  auto all = with_waiting(before, n_before, std::exchange(waiting, {}));
  const auto lack_results = std::ranges::stable_partition(all, [&](const WaitingColumn& one) {
    return one.column.held || !find_variant(one.column.variant).imported || !layer.imported.empty();
  });
  std::vector<WaitingColumn> left_out(lack_results.begin(), lack_results.end());
  all.erase(lack_results.begin(), lack_results.end());
  std::vector<Column> columns;
  if (layer.has_qk() && touched)
    columns = fitted_columns(all, session.source, layer.keys(), left_out);
  if (std::ranges::any_of(columns, compares)) {
    session.columns = std::move(columns);
    waiting = std::move(left_out);
  } else {  // those of a first look, for which nothing needs to wait that they show
    waiting = std::move(all);
    std::erase_if(waiting, [&](const WaitingColumn& one) {
      return std::ranges::count(session.columns, one.column.variant, &Column::variant) > 0;
    });
  }
  const bool views_stay = layer.has_qk() && std::ranges::any_of(before.columns, compares);
  if (views_stay && before.views != untouched.views) session.views = before.views;
  return session;
}

Session session_going_on(const Session& before, Index n_before, const Source& source) {
  const Session first = first_session(source);
  const bool same_head =
      before.layer < std::ssize(source.layers) && before.head < source.layers[before.layer].heads();
  Session session = before;
  session.source = first.source;
  session.layer = same_head ? before.layer : first.layer;
  session.head = same_head ? before.head : first.head;
  const Layer& layer = source.layers[session.layer];
  std::vector<WaitingColumn> left_out;
  session.columns =
      fitted_columns(with_waiting(before, n_before, {}), session.source, layer.keys(), left_out);
  if (!layer.has_qk() || session.columns.empty()) session.columns = first.columns;
  if (!layer.has_qk()) session.views = first.views;
  session.settings.ranges.clear();
  session.viewport = whole(layer.lengths());
  session.pinned_query.reset();
  session.spans.clear();
  return session;
}

void follow_length(Session& next, const Session& shown, Index n_before, Index n) {
  for (Column& column : next.columns) {
    const Variant& variant = find_variant(column.variant);
    if (column.values == values_for_length(variant, n_before) &&
        std::ranges::find(shown.columns, column) != shown.columns.end())
      column.values = values_for_length(variant, n);
  }
  follow_length(next.settings, shown.settings, n_before, n);
}

std::vector<Span> continued_spans(const Session& before, const Source& of_before,
                                  const Session& next, const Source& source) {
  const auto lengths = [](const Source& of, const Session& session) {
    return of.layers[session.layer].lengths();
  };
  const bool same =
      lengths(of_before, before) == lengths(source, next) &&
      sequence_of(of_before, before.layer).tokens == sequence_of(source, next.layer).tokens &&
      of_before.sequence.grid == source.sequence.grid;
  return same ? before.spans : std::vector<Span>{};
}

std::optional<Index> moved_token(const std::vector<std::string>& before,
                                 const std::vector<std::string>& after, Index token) {
  const auto first = std::ranges::mismatch(before, after).in1;
  if (token < first - before.begin()) return token;
  const auto last =
      std::mismatch(before.rbegin(), before.rend(), after.rbegin(), after.rend()).first;
  const Index moved = token + std::ssize(after) - std::ssize(before);
  const bool is_after = token >= std::ssize(before) - (last - before.rbegin());
  // Where equal tokens stand side by side nobody knows which of them was added or taken away.
  return is_after && moved >= first - before.begin() && token < std::ssize(before)
             ? std::optional(moved)
             : std::nullopt;
}

}  // namespace fovea
