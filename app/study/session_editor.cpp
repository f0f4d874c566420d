#include "study/session_editor.h"

#include <algorithm>
#include <numeric>

#include "input/assets.h"
#include "input/session_file.h"
#include "study/continued_session.h"
#include "views/views.h"

namespace fovea {
namespace {

template <class T>
bool move_item(std::vector<T>& items, int from, int to) {
  const int count = static_cast<int>(items.size());
  if (from == to || from < 0 || to < 0 || from >= count || to >= count) return false;
  const auto first = items.begin();
  if (from < to)
    std::rotate(first + from, first + from + 1, first + to + 1);
  else
    std::rotate(first + to, first + from, first + from + 1);
  return true;
}

/// Ranges of single panels go with their columns; `order` has the old number of each column.
void follow_columns(std::vector<ColourRange>& ranges, const std::vector<int>& order) {
  ranges = with_moved_columns(ranges, [&](std::size_t column) -> std::optional<std::size_t> {
    const auto it = std::ranges::find(order, static_cast<int>(column));
    if (it == order.end()) return {};
    return it - order.begin();
  });
}

}  // namespace

SessionEditor::SessionEditor(Study& study) : SessionHistory(study) {
  connect(&study_, &Study::opened, this, &SessionEditor::keep_marks);
}

void SessionEditor::change_settings(const std::function<void(ViewSettings&)>& edit) {
  change("settings", [&](Session& s) { edit(s.settings); });
}

void SessionEditor::show_view(View view, bool on) {
  change("views", [&](Session& s) {
    std::erase(s.views, view);
    const auto all = all_views();
    const auto place = [&all](View v) { return std::ranges::find(all, v); };
    const auto is_later = [&](View v) { return place(v) > place(view); };
    if (on) s.views.insert(std::ranges::find_if(s.views, is_later), view);
    if (s.views.empty()) s.views.push_back(all.front());
  });
}

void SessionEditor::replace_view(int row, View view) {
  change("views", [&](Session& s) {
    if (row < 0 || row >= std::ssize(s.views)) return;
    // A view that has a row already changes places with this one.
    const View before = s.views[row];
    std::ranges::replace(s.views, view, before);
    s.views[row] = view;
  });
}

bool SessionEditor::move_view(int from, int to) {
  bool moved = false;
  change({}, [&](Session& s) { moved = move_item(s.views, from, to); });
  return moved;
}

bool SessionEditor::move_column(int from, int to) {
  bool moved = false;
  change({}, [&](Session& s) {
    moved = move_item(s.columns, from, to);
    if (!moved) return;
    std::vector<int> order(s.columns.size());
    std::iota(order.begin(), order.end(), 0);
    move_item(order, from, to);
    follow_columns(s.settings.ranges, order);
  });
  return moved;
}

void SessionEditor::add_variants(const std::vector<std::string>& variants) {
  change({}, [&](Session& s) {
    for (const std::string& variant : variants)
      if (s.columns.size() < most_session_columns)
        s.columns.push_back({.variant = variant,
                             .values = values_for_length(find_variant(variant), study_.length()),
                             .seed = 0});
  });
  study_.select_column(static_cast<int>(study_.session().columns.size()) - 1);
}

void SessionEditor::add_columns(const std::vector<Column>& columns) {
  if (columns.empty()) return;
  change({}, [&](Session& s) {
    for (const Column& column : columns)
      if (s.columns.size() < most_session_columns &&
          std::ranges::find(s.columns, column) == s.columns.end())
        s.columns.push_back(column);
  });
  const auto& now = study_.session().columns;
  const auto last = std::ranges::find(now, columns.back());
  if (last != now.end()) study_.select_column(static_cast<int>(last - now.begin()));
}

bool SessionEditor::is_full() const {
  return study_.session().columns.size() >= most_session_columns;
}

void SessionEditor::remove_column() {
  change({}, [&](Session& s) {
    if (s.columns.size() <= 1) return;
    std::vector<int> order(s.columns.size());
    std::iota(order.begin(), order.end(), 0);
    order.erase(order.begin() + study_.selected_column());
    s.columns.erase(s.columns.begin() + study_.selected_column());
    follow_columns(s.settings.ranges, order);
  });
}

void SessionEditor::insert_copy(int column, const std::function<void(Column&)>& edit) {
  if (column >= std::ssize(study_.session().columns) || is_full()) return;
  change({}, [&](Session& s) {
    std::vector<int> order(s.columns.size());
    std::iota(order.begin(), order.end(), 0);
    order.insert(order.begin() + column + 1, -1);
    Column copy = s.columns[column];
    edit(copy);
    s.columns.insert(s.columns.begin() + column + 1, copy);
    follow_columns(s.settings.ranges, order);
    for (const View view : all_views())
      if (const ColourRange* range = s.settings.range_of(view, column))
        s.settings.choose_range({view, column + 1, range->low, range->high});
  });
  study_.select_column(column + 1);
}

void SessionEditor::duplicate_column() {
  insert_copy([](Column&) {});
}

void SessionEditor::add_column_of(Index layer, Index head) {
  insert_copy(
      [&](Column& column) { column.held = HeldHead{.source = {}, .layer = layer, .head = head}; });
}

void SessionEditor::hold_head(bool on) {
  const auto column = static_cast<std::size_t>(study_.selected_column());
  change({}, [&](Session& s) {
    if (column >= s.columns.size()) return;
    s.columns[column].held.reset();
    if (on) s.columns[column].held = HeldHead{.source = {}, .layer = s.layer, .head = s.head};
  });
}

void SessionEditor::reset_column() {
  const auto column = static_cast<std::size_t>(study_.selected_column());
  if (!study_.problem()) return;
  change({}, [&](Session& s) {
    if (column < s.columns.size())
      s.columns[column].values =
          values_for_length(find_variant(s.columns[column].variant), study_.length());
  });
}

void SessionEditor::choose_head(Index layer, Index head) {
  change("head", [&](Session& s) {
    const auto lengths_of = [&](Index l) { return study_.source()->layers[l].lengths(); };
    if (const Lengths lengths = lengths_of(layer); lengths != lengths_of(s.layer)) {
      s.viewport = whole(lengths);
      s.pinned_query.reset();
      s.spans.clear();
    }
    s.layer = layer;
    s.head = head;
  });
}

void SessionEditor::choose_patch(int patch) {
  change_content("patch", [&](Session& s) { s.patch = patch; });
}

void SessionEditor::choose_input(const std::string& address) {
  const Session& shown = study_.session();
  if (!marked_ || !study_.opening())
    marked_ = {study_.sequence().tokens, shown.pinned_query, shown.spans, {}};
  marked_->edited = address;
  change_content("input", [&](Session& s) { s.source = address; });
}

void SessionEditor::choose_order(const std::string& address) {
  change_content({}, [&](Session& s) {
    follow_source(s, address);
    s.source = address;
  });
}

void SessionEditor::keep_marks() {
  const auto marked = std::exchange(marked_, {});
  if (!marked || study_.session().source != marked->edited) return;
  const auto moved = [&](Index token) {
    return moved_token(marked->tokens, study_.sequence().tokens, token);
  };
  Session next = study_.session();
  if (marked->pinned) next.pinned_query = moved(*marked->pinned);
  for (const Span& span : marked->spans) {
    const auto first = moved(span.tokens.begin), last = moved(span.tokens.end - 1);
    if (first && last && *last - *first + 1 == span.tokens.size())
      next.spans.push_back({span.name, {*first, *last + 1}});
  }
  amend(std::move(next));
}

void SessionEditor::pin(Index query) {
  if (query < 0 || query >= study_.lengths().queries) return;
  change("pin", [&](Session& s) {
    if (s.pinned_query == query)
      s.pinned_query.reset();
    else
      s.pinned_query = query;
  });
}

void SessionEditor::choose_spans(SpanChoice choice) {
  change({}, [&](Session& s) { s.span_choice = choice; });
}

std::string SessionEditor::set_spans(std::vector<Span> spans) {
  if (std::string fault = fault_of(spans, study_.length()); !fault.empty()) return fault;
  std::ranges::sort(spans, {}, [](const Span& span) { return span.tokens.begin; });
  change({}, [&](Session& s) { s.spans = std::move(spans); });
  return "";
}

std::string SessionEditor::name_span(const Span& span) {
  std::vector<Span> spans = study_.session().spans;
  spans.push_back(span);
  return set_spans(std::move(spans));
}

std::string SessionEditor::name_frames(Index tokens) {
  std::vector<Span> spans;
  try {
    spans = with_frames(study_.session().spans, study_.length(), tokens);
  } catch (const UsageError& error) {
    return error.what();
  }
  change({}, [&](Session& s) {
    s.span_choice = SpanChoice::named;
    s.spans = std::move(spans);
  });
  return "";
}

std::string SessionEditor::change_span(std::size_t at, const Span& span) {
  std::vector<Span> spans = study_.session().spans;
  if (at < spans.size()) spans[at] = span;
  return set_spans(std::move(spans));
}

void SessionEditor::remove_span(std::size_t at) {
  change({}, [&](Session& s) {
    if (at < s.spans.size()) s.spans.erase(s.spans.begin() + static_cast<std::ptrdiff_t>(at));
  });
}

// The mask and the scale belong to the file.
void SessionEditor::show_first_look(std::vector<View> views) {
  if (!study_.source()) return;
  change({}, [&](Session& s) {
    Session first = first_session(*study_.source());
    s.columns = std::move(first.columns);
    s.views = first.views == first_views() ? std::move(views) : std::move(first.views);
    s.settings.ranges.clear();
  });
}

}  // namespace fovea

#include "moc_session_editor.cpp"
