#include "study/session_editor.h"

#include <algorithm>
#include <numeric>

#include "input/assets.h"
#include "input/session_file.h"
#include "study/continued_session.h"
#include "variants/drawn.h"
#include "views/views.h"

namespace fovea {
namespace {

std::string full_text() {
  return "A session has at most " + std::to_string(most_session_columns) +
         " columns: remove one first";
}

constexpr std::chrono::seconds soon{1};  // after each other

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
  std::erase_if(ranges, [&](ColourRange& range) {
    if (range.column < 0) return false;
    const auto it = std::ranges::find(order, range.column);
    range.column = int(it - order.begin());
    return it == order.end();
  });
}

}  // namespace

SessionEditor::SessionEditor(Study& study) : study_(study) {
  // Other patches are a step from the moment they are chosen.
  connect(&study_, &Study::opened, this, [this](bool new_source) {
    keep_marks();
    if (!new_source && !steps_.empty()) steps_[at_].session = study_.session();
  });
  connect(&study_, &Study::not_opened, this, [this] {
    going_to_.reset();
    if (!study_.opening()) keep_shown_content();
  });
  connect(&study_, &Study::leaving, this, &SessionEditor::leave);
}

void SessionEditor::change(const std::string& kind, const std::function<void(Session&)>& edit) {
  change(kind, soon, edit);
}

void SessionEditor::change_during_run(const std::string& kind,
                                      const std::function<void(Session&)>& edit) {
  change(kind, std::chrono::hours(24), edit);
}

void SessionEditor::change(const std::string& kind, std::chrono::milliseconds together,
                           const std::function<void(Session&)>& edit) {
  Session next = study_.session();
  edit(next);
  next = study_.fitting(std::move(next));
  if (next == study_.session()) return;
  record(study_.when_reopened(next), kind, together);
  study_.set_session(std::move(next));
}

// A text that its model was still reading is there again after undo.
void SessionEditor::leave() {
  if (steps_.empty()) return;
  const Session& left = study_.wanted_session();
  steps_[at_].session = left;
  visit().content_hash = left.source == study_.session().source ? study_.content_hash() : "";
  visit().selected_column = study_.selected_column();
}

void SessionEditor::start() {
  last_kind_.clear();
  const auto arrived = std::exchange(going_to_, {});
  if (arrived && study_.fitting(steps_[*arrived].session) == study_.session()) {
    at_ = *arrived;
    steps_[at_].session = study_.session();
    study_.keep_waiting(visit().waiting);
    return;
  }
  if (!steps_.empty()) steps_.resize(at_ + 1);
  steps_.push_back({study_.session(), visits_.size()});
  visits_.emplace_back().waiting = study_.waiting_columns();
  forget_first_steps();
  at_ = steps_.size() - 1;
}

void SessionEditor::record(const Session& session, const std::string& kind,
                           std::chrono::milliseconds together) {
  if (steps_.empty()) return start();
  if (steps_[at_].session == session) return;
  const auto now = std::chrono::steady_clock::now();
  const std::size_t visit = steps_[at_].visit;
  const bool same_step = at_ > 0 && steps_[at_ - 1].visit == visit && !kind.empty() &&
                         kind == last_kind_ && now - last_time_ < together;
  steps_.resize(at_ + (same_step ? 0 : 1));
  if (going_to_ >= steps_.size()) going_to_.reset();
  last_kind_ = kind;
  last_time_ = now;
  if (same_step && steps_.back().session == session) {  // back where it was: no step at all
    last_kind_.clear();
  } else {
    steps_.push_back({session, visit});
    forget_first_steps();
  }
  at_ = steps_.size() - 1;
}

void SessionEditor::forget_first_steps() {
  constexpr std::size_t most_steps = 200;
  if (steps_.size() <= most_steps) return;
  steps_.erase(steps_.begin());
  if (going_to_) going_to_ = *going_to_ > 0 ? std::optional(*going_to_ - 1) : std::nullopt;
}

// No step may open content again that was refused or cancelled: other patches, or another text for
// a model. What was changed while it was being opened stays.
void SessionEditor::keep_shown_content() {
  const Session& shown = study_.session();
  if (steps_.empty() || same_content(steps_[at_].session, shown)) return;
  const Session refused = steps_[at_].session;
  const std::size_t visit = steps_[at_].visit;
  for (Step& step : steps_)
    if (step.visit == visit && same_content(step.session, refused))
      step.session = with_content_of(shown, std::move(step.session));
  steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
  last_kind_.clear();
  const auto last = std::find(steps_.rbegin(), steps_.rend(), Step{shown, visit});
  if (last != steps_.rend()) {
    at_ = static_cast<std::size_t>(steps_.rend() - last) - 1;
    return;
  }
  const auto first = std::ranges::find(steps_, visit, &Step::visit);
  steps_.erase(first, steps_.end());
  steps_.push_back({shown, visit});
  at_ = steps_.size() - 1;
}

bool SessionEditor::reopens() const {
  return going_to_ && study_.is_opening(steps_[*going_to_].session);
}

std::optional<std::string> SessionEditor::opening_after(std::size_t step) const {
  if (step >= steps_.size() || step + 1 == steps_.size() ||
      steps_[step].visit == steps_[step + 1].visit)
    return {};
  return steps_[step + 1].session.source;
}

void SessionEditor::go_to(std::size_t step) {
  if (step >= steps_.size()) return;
  last_kind_.clear();
  const Session& session = steps_[step].session;
  if (steps_[step].visit != steps_[at_].visit) {
    const Visit& visit = visits_[steps_[step].visit];
    going_to_ = step;
    emit reopening(session.source, visit);
    return study_.open(session.source, session, visit.content_hash);
  }
  if (reopens()) study_.cancel_opening();
  going_to_.reset();
  at_ = step;
  if (same_content(session, study_.session())) study_.keep_content();
  study_.set_session(session);
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

std::string SessionEditor::draw_rectangle(bool includes) {
  const auto at = static_cast<std::size_t>(study_.selected_column());
  const auto& chosen = study_.selection();
  if (!chosen) return "Drag a rectangle on a panel first";
  if (at >= study_.columns().size()) return "This source has no columns";
  const ColumnState& state = study_.columns()[at];
  const Variant& variant = drawn_variant();
  const bool is_drawn = state.column.variant == variant.id;
  if (!is_drawn && is_full()) return full_text();
  Values values = is_drawn ? state.column.values : values_for_length(variant, study_.length());
  const Lengths lengths = study_.lengths();
  const Index block = drawn_block(values);
  const DrawnRectangle added = in_blocks({chosen->first, chosen->second, includes}, block, lengths);
  if (!is_drawn && !is_reference(state.column.variant)) {
    if (!state.computation || state.stale) return "The pairs of this column are not known yet";
    draw_on(state.computation, block, added);
    study_.select(added.queries, added.keys);
    return {};
  }
  try {
    DrawnPairs pairs = is_drawn ? drawn_pairs(values) : DrawnPairs(!includes);
    pairs.add(added);
    set_drawn_pairs(values, pairs);
  } catch (const UsageError& error) {
    return error.what();
  }
  if (is_drawn)
    change({}, [&](Session& s) { s.columns[at].values = values; });
  else
    insert_copy([&](Column& column) {
      column.variant = variant.id;
      column.values = values;
    });
  study_.select(added.queries, added.keys);
  emit drawn();
  return {};
}

void SessionEditor::draw_on(const std::shared_ptr<const Computation>& computation, Index block,
                            const DrawnRectangle& added) {
  const RequestId id{RequestKind::drawing};
  if (study_.draws() && drawing_.computation.lock() != computation)
    emit study_.reported(
        "The pairs of another column were still being read: draw the rectangle on it again");
  if (drawing_.computation.lock() != computation || !study_.requests().is_pending(id, computation))
    drawing_ = {computation, {}};
  drawing_.added.push_back(added);
  study_.requests().start(
      id, computation,
      [computation, block](const Backend&, Run& run) {
        return drawn_from(computation->op->plan(), {block, block}, run.stop);
      },
      [this, computation](const auto& pairs, const std::string& error) {
        if (drawing_.computation.lock() == computation) finish_drawing(pairs, error);
      });
}

void SessionEditor::finish_drawing(std::optional<DrawnPairs> pairs, const std::string& error) {
  const Drawing drawing = std::exchange(drawing_, {});
  const auto report = [&](const std::string& why) {
    emit study_.reported(QString::fromStdString(why));
  };
  if (!pairs) return report(error);
  const auto of = drawing.computation.lock();
  const auto column = std::ranges::find_if(study_.columns(), [&](const ColumnState& state) {
    return of && state.computation == of && !state.stale;
  });
  if (column == study_.columns().end())
    return report("The column that was drawn on has changed: draw the rectangle again");
  if (is_full()) return report(full_text());
  const Variant& variant = drawn_variant();
  Values values = values_for_length(variant, study_.length());
  try {
    for (const DrawnRectangle& added : drawing.added) pairs->add(added);
    set_drawn_pairs(values, *pairs);
  } catch (const UsageError& fault) {
    return report(fault.what());
  }
  insert_copy(static_cast<int>(column - study_.columns().begin()), [&](Column& its) {
    its.variant = variant.id;
    its.values = values;
  });
  const DrawnRectangle& last = drawing.added.back();
  study_.select(last.queries, last.keys);
  emit drawn();
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
    const auto lengths_of = [&](Index l) {
      return study_.source()->layers[static_cast<std::size_t>(l)].lengths();
    };
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
  choose_content("patch", [&](Session& s) { s.patch = patch; });
}

void SessionEditor::choose_input(const std::string& address) {
  const Session& shown = study_.session();
  if (!marked_ || !study_.opening())
    marked_ = {study_.sequence().tokens, shown.pinned_query, shown.spans, {}};
  marked_->edited = address;
  choose_content("input", [&](Session& s) { s.source = address; });
}

void SessionEditor::choose_order(const std::string& address) {
  choose_content({}, [&](Session& s) {
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
  study_.set_session(std::move(next));
}

void SessionEditor::choose_content(const std::string& kind,
                                   const std::function<void(Session&)>& edit) {
  Session next = study_.session();
  edit(next);
  if (same_content(next, study_.session())) {
    record(study_.session(), kind, soon);
    return study_.keep_content();
  }
  change(kind, [&](Session& s) {
    edit(s);
    s.viewport = {};  // all of it, however many tokens that are
    s.pinned_query.reset();
    s.spans.clear();
  });
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
