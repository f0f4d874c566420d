#include "window/navigation.h"

#include <QTableWidget>
#include <algorithm>
#include <cmath>

#include "canvas/viewport.h"
#include "window/main_window.h"

namespace fovea {
namespace {

bool holds(double begin, double end, double place) {
  return place >= begin && place < end;
}

}  // namespace

Navigation::Navigation(MainWindow& window)
    : window_(window), study_(window.study()), editor_(window.editor()), canvas_(window.canvas()) {
  const Docks& docks = window.docks();
  QObject::connect(&canvas_, &Canvas::hovered, &window,
                   [this](Index query, Index key, int column, int view) {
                     if (column >= 0 && view >= 0) {
                       column_ = column;
                       view_ = view;
                     }
                     study_.hover(query, key, column);
                   });
  QObject::connect(&canvas_, &Canvas::column_moved, &window,
                   [this](int from, int to) { move_column(from, to); });
  QObject::connect(docks.timing, &QTableWidget::cellPressed, &window,
                   [this](int row) { choose_column(row); });
  QObject::connect(docks.sequence, &SequenceView::query_hovered, &window,
                   [this](Index query) { point_to(query, -1); });
}

void Navigation::reset() {
  column_ = study_.selected_column();
  view_ = 0;
  corner_.reset();
}

bool Navigation::has_crosshair() const {
  return study_.hovered_query() >= 0 && study_.hovered_key() >= 0;
}

void Navigation::pan(double rows, double cols) {
  const Index n = study_.length();
  if (n == 0) return;
  const Viewport& v = study_.session().viewport;
  const double height = v.row_end - v.row_begin, width = v.col_end - v.col_begin;
  const bool all = rows != 0 ? height >= double(n) : width >= double(n);
  if (all) return move_crosshair(rows * height, cols * width);
  editor_.change("viewport", [&](Session& s) {
    s.viewport = canvas::panned(s.viewport, rows * height, cols * width, n);
  });
}

void Navigation::zoom(double factor) {
  const Index n = study_.length();
  if (n == 0) return;
  editor_.change("viewport", [&](Session& s) {
    const Viewport& v = s.viewport;
    const double query = double(study_.hovered_query()) + 0.5,
                 key = double(study_.hovered_key()) + 0.5;
    const double row = holds(v.row_begin, v.row_end, query) ? query : (v.row_begin + v.row_end) / 2;
    const double col = holds(v.col_begin, v.col_end, key) ? key : (v.col_begin + v.col_end) / 2;
    s.viewport = canvas::zoomed(v, factor, row, col, n);
  });
}

void Navigation::fit() {
  if (study_.length() == 0) return;
  editor_.change("viewport", [&](Session& s) { s.viewport = canvas::whole(study_.length()); });
}

void Navigation::go_to(Index query, Index key) {
  const Index n = study_.length();
  editor_.change("go", [&](Session& s) {
    const double rows = s.viewport.row_end - s.viewport.row_begin,
                 cols = s.viewport.col_end - s.viewport.col_begin;
    const double r = std::clamp(double(query) - rows / 2, 0.0, std::max(0.0, double(n) - rows)),
                 c = std::clamp(double(key) - cols / 2, 0.0, std::max(0.0, double(n) - cols));
    s.viewport = {r, r + rows, c, c + cols};
    s.pinned_query = query;
  });
  point_to(query, key);
}

void Navigation::point_to(Index query, Index key) {
  canvas_.point_to(query, key);
  study_.hover(query, key, study_.selected_column());
}

// It starts at the pinned row, else in the middle of the visible part.
void Navigation::move_crosshair(double rows, double cols) {
  const Index n = study_.length();
  if (n == 0) return;
  const Viewport& v = study_.session().viewport;
  const auto whole = [](double by) {
    return by == 0 ? 0 : std::max<Index>(1, std::llround(std::abs(by))) * (by < 0 ? -1 : 1);
  };
  const bool there = has_crosshair();
  Index query = study_.session().pinned_query.value_or(
            Index(std::floor((v.row_begin + v.row_end) / 2))),
        key = Index(std::floor((v.col_begin + v.col_end) / 2));
  if (there) {
    query = study_.hovered_query() + whole(rows);
    key = study_.hovered_key() + whole(cols);
  }
  query = std::clamp<Index>(query, 0, n - 1);
  key = std::clamp<Index>(key, 0, n - 1);
  editor_.change("viewport",
                 [&](Session& s) { s.viewport = canvas::showing(s.viewport, query, key, n); });
  point_to(query, key);
}

void Navigation::pin_crosshair() {
  if (study_.hovered_query() < 0) return move_crosshair(0, 0);
  editor_.pin(study_.hovered_query());
}

void Navigation::mark_corner() {
  if (!has_crosshair()) return move_crosshair(0, 0);
  const std::pair<Index, Index> here{study_.hovered_query(), study_.hovered_key()};
  const std::pair<Index, Index> from = corner_.value_or(here);
  const auto span = [](Index a, Index b) { return IndexRange{std::min(a, b), std::max(a, b) + 1}; };
  study_.select(span(from.first, here.first), span(from.second, here.second));
  if (corner_)
    corner_.reset();
  else {
    corner_ = here;
    window_.show_status("Selection begun: move the crosshair and press the same key again");
  }
}

void Navigation::choose_block_at_crosshair() {
  const auto& views = study_.session().views;
  if (std::ranges::find(views, View::rank) == views.end())
    return window_.show_status("There is no rank row: choose View > Rows > rank");
  if (!has_crosshair()) move_crosshair(0, 0);
  window_.docks().inspector->choose_block(study_.selected_column(), study_.hovered_query(),
                                          study_.hovered_key());
}

void Navigation::step_leaf(int by) {
  const int column = study_.selected_column();
  const Index count = study_.leaf_count(column);
  if (count == 0) return window_.show_status("The selected column has no leaves or buckets");
  const auto& now = study_.marks().chosen();
  Index leaf = by > 0 ? 0 : count - 1;
  if (now && now->column == column) leaf = now->leaves.begin + by;
  leaf = (leaf + count) % count;
  study_.choose_leaves(column, {leaf, leaf + 1});
  window_.show_status(QString("Leaf or bucket %1 of %2: %3 queries, %4 keys")
                          .arg(leaf + 1)
                          .arg(count)
                          .arg(study_.marks().queries().size())
                          .arg(study_.marks().keys().size()));
}

void Navigation::step_view(int by) {
  const int count = int(study_.session().views.size());
  if (count == 0) return;
  view_ = std::clamp(view_ + by, 0, count - 1);
  column_ = study_.selected_column();
  canvas_.set_current(view_, column_);
}

void Navigation::move_view(int by) {
  if (editor_.move_view(view_, view_ + by)) step_view(by);
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
  if (canvas_.is_enlarged()) canvas_.enlarge(view_, column_);
  canvas_.set_current(view_, column_);
}

void Navigation::enlarge_panel() {
  if (!canvas_.show_grid()) canvas_.enlarge(view_, column_);
}

void Navigation::go_back() {
  if (window_.find_bar().isVisible()) return window_.find_bar().close_bar();
  if (canvas_.show_grid()) return;
  if (study_.can_cancel()) return study_.cancel();
  corner_.reset();
  study_.select({0, 0}, {0, 0});
  study_.choose_leaves(0, {0, 0});
  point_to(-1, -1);
}

}  // namespace fovea
