// How a MainWindow is moved about in: the visible part, the crosshair, panels, leaves and matches,
// by keys as well as by the pointer.
#include <algorithm>
#include <cmath>

#include "canvas/viewport.h"
#include "window/docks/input_dock.h"
#include "window/docks/inspector_dock.h"
#include "window/main_window.h"
#include "window/widgets/find_bar.h"

namespace fovea {
namespace {

bool holds(double begin, double end, double place) {
  return place >= begin && place < end;
}

}  // namespace

/// Where all of an axis is seen there is nothing to pan: the crosshair moves instead.
void MainWindow::pan(double rows, double cols) {
  const Index n = study_->length();
  if (n == 0) return;
  const Viewport& v = study_->session().viewport;
  const double height = v.row_end - v.row_begin, width = v.col_end - v.col_begin;
  const bool all = rows != 0 ? height >= double(n) : width >= double(n);
  if (all) return move_crosshair(rows * height, cols * width);
  change("viewport", [&](Session& s) {
    s.viewport = canvas::panned(s.viewport, rows * height, cols * width, n);
  });
}

/// About the crosshair, where it is seen.
void MainWindow::zoom(double factor) {
  const Index n = study_->length();
  if (n == 0) return;
  change("viewport", [&](Session& s) {
    const Viewport& v = s.viewport;
    const double query = double(study_->hovered_query()) + 0.5,
                 key = double(study_->hovered_key()) + 0.5;
    const double row = holds(v.row_begin, v.row_end, query) ? query : (v.row_begin + v.row_end) / 2;
    const double col = holds(v.col_begin, v.col_end, key) ? key : (v.col_begin + v.col_end) / 2;
    s.viewport = canvas::zoomed(v, factor, row, col, n);
  });
}

void MainWindow::fit() {
  if (study_->length() == 0) return;
  change("viewport", [&](Session& s) { s.viewport = canvas::whole(study_->length()); });
}

void MainWindow::pin(Index query) {
  change("pin", [&](Session& s) {
    if (s.pinned_query == query)
      s.pinned_query.reset();
    else
      s.pinned_query = query;
  });
}

/// From keys, tokens or the image: read in the selected column and shown in all panels.
void MainWindow::point_to(Index query, Index key) {
  canvas_->point_to(query, key);
  study_->hover(query, key, study_->selected_column());
}

/// By at least one token; the visible part follows. It begins at the pinned row, else in the
/// middle of what is seen.
void MainWindow::move_crosshair(double rows, double cols) {
  const Index n = study_->length();
  if (n == 0) return;
  const Viewport& v = study_->session().viewport;
  const auto whole = [](double by) {
    return by == 0 ? 0 : std::max<Index>(1, std::llround(std::abs(by))) * (by < 0 ? -1 : 1);
  };
  const bool there = study_->hovered_query() >= 0 && study_->hovered_key() >= 0;
  Index query = study_->session().pinned_query.value_or(
            Index(std::floor((v.row_begin + v.row_end) / 2))),
        key = Index(std::floor((v.col_begin + v.col_end) / 2));
  if (there) {
    query = study_->hovered_query() + whole(rows);
    key = study_->hovered_key() + whole(cols);
  }
  query = std::clamp<Index>(query, 0, n - 1);
  key = std::clamp<Index>(key, 0, n - 1);
  change("viewport", [&](Session& s) { s.viewport = canvas::showing(s.viewport, query, key, n); });
  point_to(query, key);
}

void MainWindow::pin_crosshair() {
  if (study_->hovered_query() < 0) return move_crosshair(0, 0);
  pin(study_->hovered_query());
}

/// The first time a corner of a rectangle, the second time the one across from it.
void MainWindow::mark_corner() {
  if (study_->hovered_query() < 0 || study_->hovered_key() < 0) return move_crosshair(0, 0);
  const std::pair<Index, Index> here{study_->hovered_query(), study_->hovered_key()};
  const std::pair<Index, Index> from = corner_.value_or(here);
  const auto span = [](Index a, Index b) { return IndexRange{std::min(a, b), std::max(a, b) + 1}; };
  study_->select(span(from.first, here.first), span(from.second, here.second));
  if (corner_)
    corner_.reset();
  else {
    corner_ = here;
    say("One corner of a selection: move the crosshair and press the same key again.");
  }
}

void MainWindow::choose_block_at_crosshair() {
  const auto& views = study_->session().views;
  if (std::ranges::find(views, View::rank) == views.end())
    return say("There is no rank row: View > Rows > rank.");
  if (study_->hovered_query() < 0 || study_->hovered_key() < 0) move_crosshair(0, 0);
  inspector_->choose_block(study_->selected_column(), study_->hovered_query(),
                           study_->hovered_key());
}

void MainWindow::step_leaf(int by) {
  const int column = study_->selected_column();
  const Index count = study_->leaf_count(column);
  if (count == 0) return say("The selected column has no leaves and no buckets.");
  const auto& now = study_->chosen_leaves();
  Index leaf = by > 0 ? 0 : count - 1;
  if (now && now->column == column) leaf = now->leaves.begin + by;
  leaf = (leaf + count) % count;
  study_->choose_leaves(column, {leaf, leaf + 1});
  say(QString("Leaf or bucket %1 of %2: %3 queries, %4 keys")
          .arg(leaf)
          .arg(count)
          .arg(study_->marked_queries().size())
          .arg(study_->marked_keys().size()));
}

void MainWindow::step_row(int by) {
  const int count = int(study_->session().views.size());
  if (count == 0) return;
  current_view_ = std::clamp(current_view_ + by, 0, count - 1);
  current_column_ = study_->selected_column();
  canvas_->set_current(current_view_, current_column_);
}

void MainWindow::choose_column(int column) {
  study_->select_column(column);
  follow_column();
}

/// Keys speak of the selected column now; where one panel is enlarged, of its.
void MainWindow::follow_column() {
  current_column_ = study_->selected_column();
  if (canvas_->is_enlarged()) canvas_->enlarge(current_view_, current_column_);
  canvas_->set_current(current_view_, current_column_);
}

void MainWindow::enlarge_panel() {
  if (!canvas_->show_grid()) canvas_->enlarge(current_view_, current_column_);
}

/// One step back: the search, the enlarged panel, running work, then what is selected.
void MainWindow::go_back() {
  if (find_bar_->isVisible()) return find_bar_->shut();
  if (canvas_->show_grid()) return;
  if (can_cancel()) return study_->cancel();
  corner_.reset();
  study_->select({0, 0}, {0, 0});
  study_->choose_leaves(0, {0, 0});
  point_to(-1, -1);
}

/// Marks the tokens with this text in them; the view stays where it is.
void MainWindow::search(const QString& text) {
  found_.clear();
  found_at_.reset();
  const auto source = study_->source();
  if (source && !text.isEmpty()) {
    const Sequence& sequence = source->sequence;
    const bool named = !sequence.tokens.empty();
    for (Index i = 0; i < study_->length(); ++i) {
      const QString label = named && i < Index(sequence.tokens.size())
                                ? QString::fromStdString(sequence.tokens[std::size_t(i)])
                                : QString::fromStdString(sequence.label(i));
      if (label.contains(text, Qt::CaseInsensitive)) found_.push_back(i);
    }
  }
  canvas_->set_found(found_);
  input_->sequence()->set_found(found_);
  find_bar_->tell(text.isEmpty()       ? QString()
                  : found_.empty()     ? "no token has it"
                  : found_.size() == 1 ? "1 token has it"
                                       : QString("%1 tokens have it").arg(found_.size()));
}

void MainWindow::look_for(const QString& text) {
  search(text);
  if (found_.empty()) return;
  const Index from = study_->session().pinned_query.value_or(0);
  const auto next = std::ranges::lower_bound(found_, from);
  found_at_ = next == found_.end() ? 0 : std::size_t(next - found_.begin());
  show_match();
}

void MainWindow::step_match(int by) {
  if (!find_bar_->isVisible()) return find_bar_->open();
  if (found_.empty()) return;
  const auto count = int(found_.size());
  const int from = found_at_ ? int(*found_at_) : by > 0 ? -1 : count;
  found_at_ = std::size_t((from + by + count) % count);
  show_match();
}

/// Its row is pinned and brought into sight.
void MainWindow::show_match() {
  const Index token = found_[*found_at_];
  change("find", [&](Session& s) {
    Viewport& v = s.viewport;
    s.pinned_query = token;
    if (!holds(v.row_begin, v.row_end, double(token) + 0.5))
      v = canvas::panned(v, double(token) + 0.5 - (v.row_begin + v.row_end) / 2, 0,
                         study_->length());
  });
  input_->sequence()->show_token(token);
  find_bar_->tell(QString("%1 of %2: query %3").arg(*found_at_ + 1).arg(found_.size()).arg(token));
}

}  // namespace fovea
