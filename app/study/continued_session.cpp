#include "study/continued_session.h"

#include <algorithm>
#include <filesystem>

#include "input/assets.h"
#include "sweep/sweep.h"
#include "views/views.h"

namespace fovea {
namespace {

/// The same head, once `source` is opened after the Session `before`.
HeldHead continued_head(HeldHead held, const Session& before, const std::string& source) {
  if (held.source.empty()) {
    held.source = before.source;
    held.conditions = before.conditions;
  }
  std::error_code not_there;  // of a synthetic source, for one
  const bool same =
      held.source == source || std::filesystem::equivalent(held.source, source, not_there);
  return same ? HeldHead{.source = {}, .layer = held.layer, .head = held.head} : held;
}

std::vector<Column> continued_columns(const Session& before, Index n_before,
                                      const std::string& source, Index n) {
  std::vector<Column> columns;
  for (Column column : before.columns) {
    if (column.held && n != n_before) continue;  // heads of other tokens cannot be compared
    if (column.held) column.held = continued_head(*column.held, before, source);
    const Variant& variant = find_variant(column.variant);
    if (n > long_head && n_before <= long_head && !variant.quick && !variant.reference) continue;
    column.values = column.values == values_for_length(variant, n_before)
                        ? values_for_length(variant, n)
                        : fitted_values(column, n_before, n).values;
    if (std::ranges::find(columns, column) == columns.end()) columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace

Session continued_session(const Session& before, Index n_before, const Source& source) {
  Session session = first_session(source);
  const Layer& layer = source.layers[static_cast<std::size_t>(session.layer)];
  const Session untouched = standard_session({}, n_before);
  session.settings = before.settings;
  session.settings.ranges.clear();
  session.span_choice = before.span_choice;
  session.replaced_heads = before.replaced_heads;
  follow_length(session.settings, before.settings, n_before, layer.keys());
  const auto compares = [](const std::vector<Column>& columns) {
    return std::ranges::any_of(columns, [](const Column& c) { return !is_reference(c.variant); });
  };
  if (!layer.has_qk() || !compares(before.columns)) return session;
  if (before.columns != untouched.columns) {
    auto columns = continued_columns(before, n_before, session.source, layer.keys());
    if (compares(columns)) session.columns = std::move(columns);
  }
  std::erase_if(session.columns, [&](const Column& column) {
    return !column.held && find_variant(column.variant).imported && layer.imported.empty();
  });
  if (before.views != untouched.views) session.views = views_for_length(before.views, layer.keys());
  return session;
}

Session session_going_on(const Session& before, Index n_before, const Source& source) {
  const Session first = first_session(source);
  const bool same_head =
      before.layer < std::ssize(source.layers) &&
      before.head < source.layers[static_cast<std::size_t>(before.layer)].heads();
  Session session = before;
  session.source = first.source;
  session.layer = same_head ? before.layer : first.layer;
  session.head = same_head ? before.head : first.head;
  const Layer& layer = source.layers[static_cast<std::size_t>(session.layer)];
  session.columns = continued_columns(before, n_before, session.source, layer.keys());
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
    return of.layers[static_cast<std::size_t>(session.layer)].lengths();
  };
  const bool same =
      lengths(of_before, before) == lengths(source, next) &&
      sequence_of(of_before, before.layer).tokens == sequence_of(source, next.layer).tokens &&
      of_before.sequence.grid == source.sequence.grid;
  return same ? before.spans : std::vector<Span>{};
}

}  // namespace fovea
