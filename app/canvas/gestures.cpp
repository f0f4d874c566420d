#include "canvas/gestures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "canvas/canvas.h"

namespace fovea::canvas {
namespace {

/// Whether the move is a drag rather than a click.
bool is_far(Point from, Point to) {
  constexpr double slack = 4;  // pixels
  return std::hypot(to.x - from.x, to.y - from.y) > slack;
}

int column_at(const Scene& scene, Point at) {
  const Rect window = scene.grid.window();
  if (at.y >= window.y || at.x < window.x || at.x >= window.right()) return -1;
  for (int c = 0; c < scene.grid.columns(); ++c)
    if (scene.grid.header(c).contains(at)) return c;
  return -1;
}

}  // namespace

void Gestures::request(Scene& scene, const Viewport& viewport) {
  if (viewport == scene.viewport) return;
  scene.viewport = viewport;
  pending_ = viewport;
  ++unsent_;
  requests_.push_back([this, viewport](Canvas& c) {
    --unsent_;
    emit c.viewport_requested(viewport);
  });
}

void Gestures::model_changed() {
  if (unsent_ == 0) pending_.reset();
}

void Gestures::lengths_changed(Lengths now) {
  drag_ = Drag::none;
  undo_click_ = nullptr;
  if (elsewhere_ && (elsewhere_->first >= now.queries || elsewhere_->second >= now.keys))
    elsewhere_.reset();
}

Gestures::Shown Gestures::shown_in(const Scene& scene) {
  Shown shown;
  for (int row = 0; row < std::ssize(scene.rows); ++row) shown.views.push_back(scene.view(row));
  for (int column = 0; column < std::ssize(scene.columns); ++column)
    shown.titles.push_back(scene.title(column));
  return shown;
}

std::pair<IndexRange, IndexRange> Gestures::rectangle(const Scene& scene, Point at) const {
  const auto span = [](const TokenAxis& axis, double a, double b, Index n) {
    b = std::clamp(b, axis.from, axis.to - 0.5);
    return IndexRange{axis.token_at(std::min(a, b), n), axis.token_at(std::max(a, b), n) + 1};
  };
  return {span(scene.queries(pressed_panel_), pressed_at_.y, at.y, scene.model.lengths.queries),
          span(scene.keys(pressed_panel_), pressed_at_.x, at.x, scene.model.lengths.keys)};
}

void Gestures::press(const ImGuiBridge& bridge, const Scene& scene, Point at) {
  undo_click_ = nullptr;
  pressed_at_ = last_ = panned_from_ = at;
  viewport_before_ = panned_to_ = scene.viewport;
  shown_at_press_ = shown_in(scene);
  pressed_on_ = scene.pointer;
  header_ = column_at(scene, at);
  if (pressed_on_.row >= 0) pressed_panel_ = scene.grid.panel(pressed_on_.row, pressed_on_.column);
  const bool pan = button_ != 0 || bridge.space();
  if (scene.grid.horizontal_bar().contains(at))
    drag_ = Drag::horizontal_bar;
  else if (scene.grid.vertical_bar().contains(at))
    drag_ = Drag::vertical_bar;
  else if (pan)
    drag_ = pressed_on_.row >= 0           ? Drag::pan
            : header_ >= 0 && button_ == 1 ? Drag::menu
                                           : Drag::none;
  else if (header_ >= 0 || pressed_on_.row >= 0)
    drag_ = Drag::click;
}

void Gestures::drag(Scene& scene, Point at) {
  const Point moved{at.x - last_.x, at.y - last_.y};
  if (drag_ == Drag::click && is_far(pressed_at_, at)) {
    const Panel* panel = scene.panel(pressed_on_.row, pressed_on_.column);
    if (header_ >= 0 && !scene.enlarged)
      drag_ = Drag::header;
    else if (has_query_axis(panel) && has_key_axis(panel))
      drag_ = Drag::rectangle;
  }
  if (drag_ == Drag::rectangle && !scene.model.is_empty()) scene.dragged = rectangle(scene, at);
  if (drag_ == Drag::header) scene.dragged_column = {header_, at.x};
  if (drag_ == Drag::pan && !(scene.viewport == panned_to_)) {
    // A key or the wheel has moved the view: the pan goes on from there.
    panned_from_ = last_;
    viewport_before_ = panned_to_ = scene.viewport;
  }
  if (drag_ == Drag::pan && (moved.x != 0 || moved.y != 0)) {
    const double rows = (panned_from_.y - at.y) / scene.queries(pressed_panel_).cell();
    const double cols = (panned_from_.x - at.x) / scene.keys(pressed_panel_).cell();
    request(scene, panned(viewport_before_, rows, cols, scene.model.lengths));
    panned_to_ = scene.viewport;
  }
  const Point most = scene.grid.furthest();
  const Rect window = scene.grid.window();
  if (drag_ == Drag::horizontal_bar) scroll_.x += moved.x * (window.width + most.x) / window.width;
  if (drag_ == Drag::vertical_bar) scroll_.y += moved.y * (window.height + most.y) / window.height;
  last_ = at;
}

void Gestures::click_requests(Request request, Request undo) {
  requests_.push_back(std::move(request));
  undo_click_ = std::move(undo);
}

void Gestures::click(const Scene& scene) {
  const Pointer& p = pressed_on_;
  const int shown = header_ >= 0 ? header_ : p.column;
  const int column = shown >= 0 ? scene.columns[shown] : -1;
  // The column stays selected if the click turns out to be the first of a double click.
  if (column >= 0) requests_.push_back([column](Canvas& c) { emit c.column_chosen(column); });
  if (header_ >= 0) return;
  if (p.leaves.size() > 0) {
    const auto choose_leaves = [](int of, IndexRange leaves) {
      return [of, leaves](Canvas& c) { emit c.leaves_chosen(of, leaves); };
    };
    const auto again = scene.chosen_leaves.value_or(std::pair{column, p.leaves});
    return click_requests(choose_leaves(column, p.leaves),
                          choose_leaves(again.first, again.second));
  }
  if (scene.body<BlockMap>(p.row, p.column))
    return requests_.push_back([of = scene.part_at_pointer(p.row, p.column).column, p](Canvas& c) {
      emit c.block_chosen(of, p.query, p.key);
    });
  if (p.query >= 0 && !scene.body<RowCurve>(p.row, p.column)) {
    const auto pin = [](Index query) { return [query](Canvas& c) { emit c.query_pinned(query); }; };
    // Pinning a pinned query again unpins it.
    click_requests(pin(p.query), pin(scene.model.pinned_query.value_or(p.query)));
  }
}

void Gestures::double_click(const Scene& scene) {
  drag_ = Drag::none;
  if (undo_click_) requests_.push_back(std::exchange(undo_click_, nullptr));
  const int view = scene.rows[scene.pointer.row], column = scene.columns[scene.pointer.column];
  requests_.push_back([view, column](Canvas& c) {
    if (c.show_grid()) return;
    c.enlarge(view, column);
    emit c.column_chosen(column);
  });
}

void Gestures::release(const Scene& scene, Point at) {
  if (drag_ == Drag::click) click(scene);
  if (drag_ == Drag::pan && button_ == 1 && !is_far(pressed_at_, at)) right_click_ = pressed_on_;
  if (drag_ == Drag::menu && !is_far(pressed_at_, at)) right_click_ = {.column = header_};
  if (drag_ == Drag::rectangle)
    requests_.push_back([part = rectangle(scene, at)](Canvas& c) {
      emit c.rectangle_selected(part.first, part.second);
    });
  if (drag_ == Drag::header)
    if (const int target = scene.grid.column_at(at.x, header_); target != header_)
      requests_.push_back(
          [from = header_, target](Canvas& c) { emit c.column_moved(from, target); });
  drag_ = Drag::none;
}

void Gestures::cancel(Scene& scene) {
  if (drag_ == Drag::pan) request(scene, viewport_before_);
  drag_ = Drag::none;
}

void Gestures::turn_wheel(const ImGuiBridge& bridge, Scene& scene, Point at) {
  const Point wheel = bridge.wheel();
  if (wheel.x == 0 && wheel.y == 0) return;
  const Panel* panel = scene.panel(scene.pointer.row, scene.pointer.column);
  const bool rows = has_query_axis(panel), cols = has_key_axis(panel);
  if (bridge.control()) {
    requests_.push_back([steps = wheel.y, at](Canvas& canvas) {
      canvas.resize_panels(steps, QPointF(at.x, at.y));
    });
    return;
  }
  if (bridge.shift() || !(rows || cols) || scene.model.is_empty()) {
    // There is nothing to zoom here, so the grid scrolls.
    (bridge.shift() ? scroll_.x : scroll_.y) -= 60 * wheel.y;
    scroll_.x -= 60 * wheel.x;
    return;
  }
  const Rect where = scene.grid.panel(scene.pointer.row, scene.pointer.column);
  const Viewport& v = scene.viewport;
  const double row = rows ? scene.queries(where).token(at.y) : (v.row_begin + v.row_end) / 2;
  const double col = cols ? scene.keys(where).token(at.x) : (v.col_begin + v.col_end) / 2;
  request(scene, zoomed(v, std::pow(0.8, wheel.y), row, col, scene.model.lengths));
}

void Gestures::keep_place(Point at, double side) {
  kept_ = KeptPlace{at, side};
}

/// Keeps nearly the same part of a panel under the pointer when panels change their size: gaps and
/// captions stay as they are.
void Gestures::scroll_to_kept_place(const Scene& scene) {
  const auto kept = std::exchange(kept_, {});
  if (!kept || kept->side <= 0) return;
  const Rect window = scene.grid.window();
  const double ratio = scene.grid.side() / kept->side;
  const Point at = {kept->at.x - window.x, kept->at.y - window.y};
  scroll_ = {(scroll_.x + at.x) * ratio - at.x, (scroll_.y + at.y) * ratio - at.y};
}

void Gestures::show_cursor(const Scene& scene, Point at) const {
  if (drag_ == Drag::pan || drag_ == Drag::header)
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeAll);
  else if (column_at(scene, at) >= 0 || scene.pointer.leaves.size() > 0)
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  else if (scene.pointer.query >= 0)
    ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
}

/// A crosshair from keys, tokens or a search stays until the pointer moves over the canvas: the
/// user has not pointed at what slides under a resting pointer.
void Gestures::follow_elsewhere(Scene& scene, Point at) {
  const bool outside = at.x < -1e6;
  if (elsewhere_ && !rested_at_) rested_at_ = at;
  if (elsewhere_ && !outside && (at.x != rested_at_->x || at.y != rested_at_->y)) {
    elsewhere_.reset();
    reported_.reset();
  }
  if (elsewhere_) {
    scene.pointer = {.query = elsewhere_->first, .key = elsewhere_->second};
  } else if (reported_ != scene.pointer) {
    const Pointer& p = reported_.emplace(scene.pointer);
    requests_.push_back([query = p.query, key = p.key, view = p.row < 0 ? -1 : scene.rows[p.row],
                         column = p.column < 0 ? -1 : scene.columns[p.column]](Canvas& c) {
      emit c.hovered(query, key, column, view);
    });
  }
}

/// The border of two columns that are wiped follows the pointer, or the crosshair of keys.
void Gestures::move_border(Scene& scene, Point at) {
  const auto& comparison = scene.model.comparison;
  const auto shown = std::ranges::find(scene.columns, comparison ? comparison->column : -1);
  if (shown != scene.columns.end()) {
    const int column = int(shown - scene.columns.begin());
    const Rect where = scene.grid.panel(std::max(scene.pointer.row, 0), column);
    double x = NAN;
    if (scene.pointer.row >= 0 && scene.pointer.column == column)
      x = at.x;
    else if (elsewhere_ && elsewhere_->second >= 0)
      x = scene.keys(where).pixel(double(elsewhere_->second) + 0.5);
    if (x >= where.x && x <= where.right()) border_ = (x - where.x) / where.width;
  }
  scene.border = border_;
}

void Gestures::point_elsewhere(Index query, Index key) {
  rested_at_.reset();
  elsewhere_.reset();
  if (query >= 0 || key >= 0) elsewhere_ = {query, key};
}

/// Scrolls by the least that brings the whole panel, with its caption, into the window.
void Gestures::scroll_to_show(Scene& scene, std::pair<int, int> row_and_column) {
  const auto [row, column] = row_and_column;
  if (column >= scene.grid.columns() || row >= scene.grid.rows() || column < 0) return;
  constexpr double bar = 9;  // a scroll bar lies over the window's foot
  const Rect window = scene.grid.window(), panel = scene.grid.panel(std::max(row, 0), column);
  const auto missing = [](double begin, double end, double low, double high) {
    return begin < low || end - begin > high - low ? begin - low : std::max(0.0, end - high);
  };
  scroll_.x += missing(panel.x, panel.right(), window.x, window.right());
  if (row >= 0) {
    const double bottom = scene.grid.caption(row, column).bottom();
    scroll_.y += missing(panel.y, bottom, window.y, window.bottom() - bar);
  }
  scene.grid.scroll_to(scroll_);
  scroll_ = scene.grid.scroll();
}

void Gestures::place(Scene& scene) {
  if (pending_) scene.viewport = *pending_;
  scroll_to_kept_place(scene);
  scene.grid.scroll_to(scroll_);
  if (const auto shown = std::exchange(to_show_, {})) scroll_to_show(scene, *shown);
  scene.pointer = reported_.value_or(Pointer{});
  scene.border = border_;
  if (drag_ != Drag::none && !(shown_at_press_ == shown_in(scene))) drag_ = Drag::none;
}

std::vector<Request> Gestures::step(const ImGuiBridge& bridge, Scene& scene, bool may_press) {
  requests_.clear();
  right_click_.reset();
  const ImGuiIO& io = ImGui::GetIO();
  const Point at{io.MousePos.x, io.MousePos.y};
  scene.pointer = scene.point_at(at);
  const bool twice = may_press && bridge.double_clicked() && scene.pointer.row >= 0;
  if (twice) double_click(scene);
  for (int button = 0; button < 3; ++button)
    if (io.MouseClicked[button] && may_press && drag_ == Drag::none && !(twice && button == 0)) {
      button_ = button;
      press(bridge, scene, at);
    }
  if (drag_ != Drag::none) drag(scene, at);
  if (drag_ != Drag::none && io.MouseReleased[button_]) release(scene, at);
  turn_wheel(bridge, scene, at);
  if (bridge.escape()) cancel(scene);
  scene.grid.scroll_to(scroll_);
  scroll_ = scene.grid.scroll();
  scene.pointer = scene.point_at(at);
  if (scene.pointer.column < 0) scene.pointer.column = column_at(scene, at);
  follow_elsewhere(scene, at);
  move_border(scene, at);
  if (may_press) show_cursor(scene, at);
  return std::move(requests_);
}

}  // namespace fovea::canvas
