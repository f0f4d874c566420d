#include "window/navigation.h"

#include <QTableWidget>
#include <algorithm>
#include <cmath>

#include "analysis/worst_queries.h"
#include "canvas/viewport.h"
#include "views/views.h"
#include "window/docks/docks.h"
#include "window/docks/failure_box.h"
#include "window/widgets/text.h"
#include "window/workspace.h"

namespace fovea {
namespace {

double middle(double begin, double end) {
  return (begin + end) / 2;
}

}  // namespace

Navigation::Navigation(Workspace& workspace, const Docks& docks)
    : workspace_(workspace),
      docks_(docks),
      study_(workspace.study),
      editor_(workspace.editor),
      canvas_(workspace.canvas) {
  QMainWindow& window = workspace.window;
  player_.setInterval(100);
  QObject::connect(&player_, &QTimer::timeout, &window, [this] { play_next(); });
  QObject::connect(&canvas_, &Canvas::hovered, &window,
                   [this](Index query, Index key, int column, int view) {
                     const auto model = study_.model();
                     if (!model || !(model->lengths == study_.lengths()))
                       return;  // the pair is of another head
                     if (column >= 0 && view >= 0) {
                       column_ = column;
                       view_ = view;
                     }
                     loss_sought_.reset();
                     study_.hover(query, key, column);
                   });
  QObject::connect(&canvas_, &Canvas::column_moved, &window,
                   [this](int from, int to) { move_column(from, to); });
  QObject::connect(docks.timing, &QTableWidget::cellPressed, &window, [this](int row) {
    canvas_.setFocus();  // finishes typing, which belongs to the column that was selected
    choose_column(row);
  });
  FailureBox& failure = docks.column->failure();
  QObject::connect(&failure, &FailureBox::pair_chosen, &window,
                   [this](Index query, Index key) { go_to(query, key); });
  QObject::connect(&failure, &FailureBox::query_chosen, &window,
                   [this](Index query) { go_to_loss_of(query); });
  QObject::connect(&failure, &FailureBox::keys_listed, &window, [this](Index query) {
    find_loss();
    if (loss_sought_ == query) loss_sought_.reset();  // it has lost none
  });
  QObject::connect(docks.sequence, &SequenceView::query_hovered, &window,
                   [this](Index query) { point_to(query, -1); });
}

void Navigation::reset() {
  player_.stop();
  column_ = study_.selected_column();
  view_ = 0;
  corner_.reset();
  worst_.reset();
  point_to(-1, -1);
}

bool Navigation::has_crosshair() const {
  return study_.hovered_query() >= 0 && study_.hovered_key() >= 0;
}

void Navigation::pan(double rows, double cols) {
  const Lengths lengths = study_.lengths();
  if (lengths.queries == 0) return;
  const Viewport& v = study_.session().viewport;
  const double height = v.row_end - v.row_begin, width = v.col_end - v.col_begin;
  const bool all = rows != 0 ? height >= double(lengths.queries) : width >= double(lengths.keys);
  if (all) return move_crosshair(rows * height, cols * width);
  editor_.change("viewport", [&](Session& s) {
    s.viewport = canvas::panned(s.viewport, rows * height, cols * width, lengths);
  });
}

void Navigation::zoom(double factor) {
  const Lengths lengths = study_.lengths();
  if (lengths.queries == 0) return;
  // The crosshair stays where it is, or the middle if it is not visible.
  const auto fixed_point = [](double begin, double end, Index token) {
    const double place = double(token) + 0.5;
    return place >= begin && place < end ? place : middle(begin, end);
  };
  editor_.change("viewport", [&](Session& s) {
    const Viewport& v = s.viewport;
    s.viewport =
        canvas::zoomed(v, factor, fixed_point(v.row_begin, v.row_end, study_.hovered_query()),
                       fixed_point(v.col_begin, v.col_end, study_.hovered_key()), lengths);
  });
}

void Navigation::fit() {
  if (study_.lengths().queries == 0) return;
  editor_.change("viewport", [&](Session& s) { s.viewport = whole(study_.lengths()); });
}

void Navigation::go_to(Index query, Index key) {
  const Lengths lengths = study_.lengths();
  if (query >= lengths.queries || key >= lengths.keys) return;  // the pair is of another head
  editor_.change("go", [&](Session& s) {
    const Viewport& v = s.viewport;
    s.viewport = canvas::panned(v, double(query) - middle(v.row_begin, v.row_end),
                                double(key) - middle(v.col_begin, v.col_end), study_.lengths());
    s.pinned_query = query;
  });
  point_to(query, key);
}

void Navigation::go_to_query(Index query) {
  const Viewport& v = study_.session().viewport;
  go_to(query, Index(middle(v.col_begin, v.col_end)));
}

void Navigation::go_to_loss_of(Index query) {
  go_to_query(query);
  loss_sought_ = query;
  find_loss();
}

void Navigation::find_loss() {
  const auto& most_lost = docks_.column->failure().most_lost();
  if (loss_sought_ && most_lost && most_lost->first == *loss_sought_)
    go_to(most_lost->first, most_lost->second);
}

void Navigation::point_to(Index query, Index key) {
  loss_sought_.reset();
  canvas_.point_to(query, key);
  study_.hover(query, key, study_.selected_column());
}

void Navigation::drop_hidden_crosshair() {
  const Viewport& v = study_.session().viewport;
  const auto in = [](Index token, double begin, double end) {
    return double(token) + 1 > begin && double(token) < end;
  };
  if (has_crosshair() && !(in(study_.hovered_query(), v.row_begin, v.row_end) &&
                           in(study_.hovered_key(), v.col_begin, v.col_end)))
    point_to(-1, -1);
}

// A new crosshair starts at the pinned row, else in the middle of the visible part.
void Navigation::move_crosshair(double rows, double cols) {
  const Lengths lengths = study_.lengths();
  if (lengths.queries == 0) return;
  const Viewport& v = study_.session().viewport;
  const auto tokens = [](double by) {
    return by == 0 ? 0 : std::max<Index>(1, std::llround(std::abs(by))) * (by < 0 ? -1 : 1);
  };
  Index query = study_.hovered_query() + tokens(rows), key = study_.hovered_key() + tokens(cols);
  if (!has_crosshair()) {
    query = study_.session().pinned_query.value_or(Index(middle(v.row_begin, v.row_end)));
    key = Index(middle(v.col_begin, v.col_end));
  }
  query = std::clamp<Index>(query, 0, lengths.queries - 1);
  key = std::clamp<Index>(key, 0, lengths.keys - 1);
  editor_.change("viewport", [&](Session& s) {
    s.viewport = canvas::showing(s.viewport, query, key, lengths);
  });
  point_to(query, key);
}

void Navigation::pin_crosshair() {
  if (study_.hovered_query() < 0) return move_crosshair(0, 0);
  editor_.pin(study_.hovered_query());
}

void Navigation::play() {
  if (is_playing()) return player_.stop();
  const Index last = study_.lengths().queries - 1;
  if (last < 1) return;
  if (!has_crosshair()) move_crosshair(0, 0);
  if (study_.hovered_query() == last)
    point_to(Index(study_.session().viewport.row_begin), study_.hovered_key());
  played_ = study_.hovered_query();
  player_.start();
  workspace_.show_status("Playing the queries: J or Esc stops");
}

// Long heads are played in steps, so that the queries in sight take half a minute.
void Navigation::play_next() {
  const Viewport& v = study_.session().viewport;
  constexpr double steps = 300;
  if (!has_crosshair() || study_.hovered_query() != played_) return player_.stop();
  move_crosshair(std::max(1.0, (v.row_end - v.row_begin) / steps), 0);
  played_ = study_.hovered_query();
  if (played_ == study_.lengths().queries - 1) player_.stop();
}

namespace {

/// "2nd".
QString ordinal(std::ptrdiff_t number) {
  const auto last = number % 10, tens = number / 10 % 10;
  const char* ending = tens == 1 || last < 1 || last > 3 ? "th"
                       : last == 1                       ? "st"
                       : last == 2                       ? "nd"
                                                         : "rd";
  return QString::number(number) + ending;
}

}  // namespace

void Navigation::step_worst(int by) {
  const auto c = std::size_t(std::max(0, study_.selected_column()));
  if (c >= study_.columns().size()) return;
  const ColumnState& column = study_.columns()[c];
  const QString title = to_qt(study_.title_of(int(c)));
  if (is_reference(column.column.variant))
    return workspace_.show_status("Exact attention makes no error: select another column");
  if (column.metrics && !column.metrics->of_outputs())
    return workspace_.show_status(QString("Output errors are not known: ") + no_values);
  if (!column.metrics || column.stale)
    return workspace_.show_status("The output errors of " + title + " are not known yet");
  const std::vector<float>& errors = column.metrics->token_error;
  const std::vector<Index> order = worst_queries(errors);
  std::ptrdiff_t place = 0;
  // Continues unless another query was pinned since, or the errors are different ones.
  if (worst_ == study_.session().pinned_query && worst_of_.lock() == column.metrics)
    place = std::clamp<std::ptrdiff_t>(
        std::ranges::find(order, worst_.value_or(0)) - order.begin() + by, 0,
        std::ssize(order) - 1);
  const Index query = order[place];
  worst_ = query;
  worst_of_ = column.metrics;
  go_to_loss_of(query);
  workspace_.show_status(QString("Query %1: output error |z̃ − z| %2, the %3worst of %4 for %5")
                             .arg(to_qt(study_.sequence().numbered(query)),
                                  number_text(errors[query]),
                                  place > 0 ? ordinal(place + 1) + " " : QString(),
                                  QString("%1 queries").arg(order.size()), title));
}

void Navigation::mark_corner() {
  if (!has_crosshair()) return move_crosshair(0, 0);
  const std::pair<Index, Index> here{study_.hovered_query(), study_.hovered_key()};
  const Lengths lengths = study_.lengths();
  if (corner_ && (corner_->first >= lengths.queries || corner_->second >= lengths.keys))
    corner_.reset();  // the selection was begun on a layer of more tokens
  const std::pair<Index, Index> from = corner_.value_or(here);
  const auto span = [](Index a, Index b) { return IndexRange{std::min(a, b), std::max(a, b) + 1}; };
  study_.select(span(from.first, here.first), span(from.second, here.second));
  if (corner_)
    corner_.reset();
  else {
    corner_ = here;
    workspace_.show_status("Selection begun: move the crosshair and press the same key again");
  }
}

void Navigation::choose_block_at_crosshair() {
  const auto& views = study_.session().views;
  if (std::ranges::none_of(views, [](View view) { return view->has_blocks; }))
    return workspace_.show_status("There is no row with blocks: choose View > Rows > Rank");
  if (!has_crosshair()) move_crosshair(0, 0);
  study_.choose_block(
      PointedPair{study_.hovered_query(), study_.hovered_key(), study_.selected_column()});
}

void Navigation::step_leaf(int by) {
  const int column = study_.selected_column();
  const Index count = study_.marks().leaf_count(column);
  if (count == 0) return workspace_.show_status("The selected column has no leaves or buckets");
  const auto& now = study_.marks().chosen();
  Index leaf = by > 0 ? 0 : count - 1;
  if (now && now->column == column) leaf = now->leaves.begin + by;
  leaf = (leaf + count) % count;
  study_.choose_leaves(column, {leaf, leaf + 1});
  workspace_.show_status(QString("Leaf or bucket %1, of %2 in all: %3 queries, %4 keys")
                             .arg(leaf)
                             .arg(count)
                             .arg(study_.marks().queries().size())
                             .arg(study_.marks().keys().size()));
}

int Navigation::view() const {
  return std::clamp(view_, 0, std::max(0, int(study_.session().views.size()) - 1));
}

int Navigation::column() const {
  return std::clamp(column_, 0, std::max(0, int(study_.columns().size()) - 1));
}

void Navigation::step_view(int by) {
  const int count = int(study_.session().views.size());
  if (count == 0) return;
  view_ = std::clamp(view() + by, 0, count - 1);
  column_ = study_.selected_column();
  canvas_.set_current(view_, column_);
}

void Navigation::move_view(int by) {
  if (editor_.move_view(view(), view() + by)) step_view(by);
}

void Navigation::move_column(int from, int to) {
  if (editor_.move_column(from, to)) choose_column(to);
}

void Navigation::choose_column(int column) {
  study_.select_column(column);
  follow_column();
}

void Navigation::follow_column() {
  column_ = study_.selected_column();
  if (canvas_.is_enlarged()) canvas_.enlarge(view(), column());
  canvas_.set_current(view(), column());
}

void Navigation::enlarge_panel() {
  if (canvas_.show_grid()) return;
  study_.select_column(column());
  canvas_.enlarge(view(), column());
}

bool Navigation::stop_playing() {
  const bool played = is_playing();
  player_.stop();
  return played;
}

void Navigation::unselect() {
  corner_.reset();
  study_.select({0, 0}, {0, 0});
  study_.choose_leaves(0, {0, 0});
  study_.choose_block({});
  point_to(-1, -1);
}

}  // namespace fovea
