#include "canvas/gestures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "canvas/viewport.h"

namespace fovea::canvas {
namespace {

constexpr double slack = 4;  // pixels a click may move

bool same(const Pointer& a, const Pointer& b) {
  return a.query == b.query && a.key == b.key && a.row == b.row && a.column == b.column;
}

}  // namespace

void Gestures::request(Scene& scene, const Viewport& viewport) {
  if (viewport == scene.viewport) return;
  scene.viewport = viewport;
  pending_ = viewport;  // shown at once, before the owner answers
  requests_.push_back(RequestViewport{viewport});
}

int Gestures::column_at(const Scene& scene, Point at) const {
  const Rect window = scene.grid.window();
  if (at.y >= window.y || at.x < window.x || at.x >= window.right()) return -1;
  for (int c = 0; c < scene.grid.columns(); ++c)
    if (scene.grid.header(c).contains(at)) return c;
  return -1;
}

int Gestures::drop_target(const Scene& scene, double x) const {
  int target = header_;
  for (int c = 0; c < scene.grid.columns(); ++c) {
    const Rect header = scene.grid.header(c);
    if (x >= header.x - Grid::gap / 2 && x < header.right() + Grid::gap / 2) target = c;
  }
  return target;
}

std::pair<IndexRange, IndexRange> Gestures::rectangle(const Scene& scene, Point at) const {
  const auto span = [&](const TokenAxis& axis, double a, double b) {
    const Index n = scene.model.n;
    const auto token = [&](double p) {
      return std::clamp(static_cast<Index>(std::floor(axis.token(p))), Index{0}, n - 1);
    };
    return IndexRange{token(std::min(a, b)), token(std::max(a, b)) + 1};
  };
  const auto inside = [](double v, double from, double to) {
    return std::clamp(v, from, to - 0.5);
  };
  const Rect& p = pressed_panel_;
  return {span(scene.queries(p), pressed_at_.y, inside(at.y, p.y, p.bottom())),
          span(scene.keys(p), pressed_at_.x, inside(at.x, p.x, p.right()))};
}

std::optional<Gestures::BarEnd> Gestures::bar_end_at(const Scene& scene, Point at) {
  constexpr double reach = 8;
  for (int row = 0; row < scene.grid.rows(); ++row)
    for (const PlacedBar& bar : placed_bars(scene, row)) {
      const Rect where = bar.gradient();
      if (!bar.bar.scale().is_amounts() || !where.inset(-reach).contains(at)) continue;
      const bool upright = bar.bar.is_upright();
      const double from_low = upright ? where.bottom() - at.y : at.x - where.x,
                   from_high = upright ? at.y - where.y : where.right() - at.x;
      if (from_low < reach) return BarEnd{bar, false};
      if (from_high < reach) return BarEnd{bar, true};
    }
  return {};
}

/// The scale of the bar as it was pressed goes on beyond its ends.
void Gestures::drag_bar_end(Point at) {
  const auto& [bar, high] = *bar_end_;
  const Rect where = bar.gradient();
  const drawing::ColourScale& scale = bar.bar.scale();
  const double share = bar.bar.is_upright() ? (where.bottom() - at.y) / where.height
                                            : (at.x - where.x) / where.width;
  const double value = scale.value_at(std::clamp(share, -1.0, 2.0));
  const double least = 1e-3 * (scale.high - scale.bottom());
  std::pair<double, double> range{scale.low, scale.high};
  if (scale.palette == Palette::diverging)
    range = {-std::max(std::abs(value), least), std::max(std::abs(value), least)};
  else if (high)
    range.second = std::max(value, scale.bottom() + least);
  else
    range.first = std::min(value, scale.high - least);
  requests_.push_back(ChooseRange{bar.row, bar.column, range});
}

void Gestures::reset_bar_at(const Scene& scene, Point at) {
  for (int row = 0; row < scene.grid.rows(); ++row)
    for (const PlacedBar& bar : placed_bars(scene, row))
      if (bar.bar.scale().is_amounts() && bar.gradient().inset(-8).contains(at))
        requests_.push_back(ChooseRange{bar.row, bar.column, {}});
}

void Gestures::press(const ImGuiBridge& bridge, const Scene& scene, Point at) {
  clicked_ = false;
  pressed_at_ = last_ = at;
  pressed_on_ = scene.pointer;
  header_ = column_at(scene, at);
  if (pressed_on_.row >= 0) pressed_panel_ = scene.grid.panel(pressed_on_.row, pressed_on_.column);
  const bool pan = button_ != 0 || bridge.key_is_down(Qt::Key_Space);
  bar_end_ = button_ == 0 ? bar_end_at(scene, at) : std::nullopt;
  if (bar_end_)
    drag_ = Drag::range_end;
  else if (scene.grid.horizontal_bar().contains(at))
    drag_ = Drag::horizontal_bar;
  else if (scene.grid.vertical_bar().contains(at))
    drag_ = Drag::vertical_bar;
  else if (pan)
    drag_ = pressed_on_.row >= 0 ? Drag::pan : Drag::none;
  else if (header_ >= 0 || pressed_on_.row >= 0)
    drag_ = Drag::click;
}

void Gestures::drag(Scene& scene, Point at) {
  const Point moved{at.x - last_.x, at.y - last_.y};
  const bool far = std::hypot(at.x - pressed_at_.x, at.y - pressed_at_.y) > slack;
  if (drag_ == Drag::click && far) {
    const CanvasCell* cell = scene.cell(pressed_on_.row, pressed_on_.column);
    if (header_ >= 0 && scene.columns_move)
      drag_ = Drag::header;
    else if (cell && cell->panel && has_query_axis(*cell->panel) && has_key_axis(*cell->panel))
      drag_ = Drag::rectangle;
  }
  if (drag_ == Drag::range_end && (moved.x != 0 || moved.y != 0)) drag_bar_end(at);
  if (drag_ == Drag::rectangle && scene.model.n > 0) scene.dragged = rectangle(scene, at);
  if (drag_ == Drag::header) scene.dragged_column = {header_, at.x};
  if (drag_ == Drag::pan) {
    const double rows = -moved.y / scene.queries(pressed_panel_).cell();
    const double cols = -moved.x / scene.keys(pressed_panel_).cell();
    request(scene, panned(scene.viewport, rows, cols, scene.model.n));
  }
  const Point most = scene.grid.furthest();
  const Rect window = scene.grid.window();
  if (drag_ == Drag::horizontal_bar) scroll_.x += moved.x * (window.width + most.x) / window.width;
  if (drag_ == Drag::vertical_bar) scroll_.y += moved.y * (window.height + most.y) / window.height;
  last_ = at;
}

void Gestures::click(const Scene& scene) {
  const Pointer& p = pressed_on_;
  if (header_ >= 0) return requests_.push_back(ChooseColumn{header_});
  const CanvasCell* cell = scene.cell(p.row, p.column);
  clicked_ = true;
  if (p.leaves.size() > 0) return requests_.push_back(ChooseLeaves{p.column, p.leaves});
  if (cell && cell->panel && std::holds_alternative<BlockMap>(cell->panel->body))
    return requests_.push_back(ChooseBlock{p.column, p.query, p.key});
  const bool row_panel = cell && cell->panel && std::holds_alternative<RowCurve>(cell->panel->body);
  if (p.query >= 0 && !row_panel) return requests_.push_back(PinQuery{p.query});
  if (p.column >= 0) requests_.push_back(ChooseColumn{p.column});
}

void Gestures::release(const Scene& scene, Point at) {
  if (drag_ == Drag::click) click(scene);
  const bool moved = std::hypot(at.x - pressed_at_.x, at.y - pressed_at_.y) > slack;
  if (drag_ == Drag::pan && button_ == 1 && !moved) requests_.push_back(OpenMenu{pressed_on_});
  if (drag_ == Drag::rectangle) {
    const auto [rows, cols] = rectangle(scene, at);
    requests_.push_back(SelectRectangle{rows, cols});
  }
  if (drag_ == Drag::header) {
    const int target = drop_target(scene, at.x);
    if (target != header_) requests_.push_back(MoveColumn{header_, target});
  }
  drag_ = Drag::none;
}

void Gestures::turn_wheel(const ImGuiBridge& bridge, Scene& scene, Point at) {
  const Point wheel = bridge.wheel();
  if (wheel.x == 0 && wheel.y == 0) return;
  const CanvasCell* cell = scene.cell(scene.pointer.row, scene.pointer.column);
  const bool rows = cell && cell->panel && has_query_axis(*cell->panel);
  const bool cols = cell && cell->panel && has_key_axis(*cell->panel);
  if (bridge.shift() || !(rows || cols) || scene.model.n <= 0) {
    // Nothing to zoom here: the grid scrolls.
    (bridge.shift() ? scroll_.x : scroll_.y) -= 60 * wheel.y;
    scroll_.x -= 60 * wheel.x;
    return;
  }
  const Rect where = scene.grid.panel(scene.pointer.row, scene.pointer.column);
  const Viewport& v = scene.viewport;
  const double row = rows ? scene.queries(where).token(at.y) : (v.row_begin + v.row_end) / 2;
  const double col = cols ? scene.keys(where).token(at.x) : (v.col_begin + v.col_end) / 2;
  request(scene, zoomed(v, std::pow(0.8, wheel.y), row, col, scene.model.n));
}

void Gestures::show_cursor(const Scene& scene, Point at) const {
  if (drag_ == Drag::pan || drag_ == Drag::header)
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeAll);
  else if (drag_ == Drag::range_end || bar_end_at(scene, at) || column_at(scene, at) >= 0 ||
           scene.pointer.leaves.size() > 0)
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  else if (scene.pointer.query >= 0)
    ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
}

/// The crosshair of keys, tokens or a search stays until the pointer moves over the canvas: what
/// slides under a resting pointer was not pointed at.
void Gestures::follow_elsewhere(Scene& scene, Point at) {
  const bool outside = at.x < -1e6;
  if (elsewhere_ && !rested_at_) rested_at_ = at;
  if (elsewhere_ && !outside && (at.x != rested_at_->x || at.y != rested_at_->y)) {
    elsewhere_.reset();
    reported_ = {.query = -2};  // no place: the next one is reported again
  }
  if (elsewhere_)
    scene.pointer = {.query = elsewhere_->first, .key = elsewhere_->second};
  else if (!same(scene.pointer, reported_))
    requests_.push_back(Hover{reported_ = scene.pointer});
}

void Gestures::point_elsewhere(Index query, Index key) {
  rested_at_.reset();
  elsewhere_.reset();
  if (query >= 0 || key >= 0) elsewhere_ = {query, key};
}

/// As little as brings all of the panel, with its caption, into the window.
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

std::vector<Request> Gestures::step(const ImGuiBridge& bridge, Scene& scene) {
  requests_.clear();
  const ImGuiIO& io = ImGui::GetIO();
  const Point at{io.MousePos.x, io.MousePos.y};
  if (pending_) scene.viewport = *pending_;
  scene.grid.scroll_to(scroll_);
  if (const auto shown = std::exchange(to_show_, {})) scroll_to_show(scene, *shown);
  scene.pointer = point_at(scene, at);
  const bool twice = bridge.double_clicked() && scene.pointer.row >= 0;
  if (twice) {
    drag_ = Drag::none;
    requests_.push_back(
        DoubleClick{scene.pointer.row, scene.pointer.column, std::exchange(clicked_, false)});
  }
  if (bridge.double_clicked() && !twice) reset_bar_at(scene, at);
  for (int button = 0; button < 3; ++button)
    if (io.MouseClicked[button] && drag_ == Drag::none && !(twice && button == 0)) {
      button_ = button;
      press(bridge, scene, at);
    }
  if (drag_ != Drag::none) drag(scene, at);
  if (drag_ != Drag::none && io.MouseReleased[button_]) release(scene, at);
  turn_wheel(bridge, scene, at);
  if (bridge.pressed_key() == Qt::Key_Escape) drag_ = Drag::none;
  scene.grid.scroll_to(scroll_);
  scroll_ = scene.grid.scroll();
  scene.pointer = point_at(scene, at);
  if (scene.pointer.column < 0) scene.pointer.column = column_at(scene, at);
  follow_elsewhere(scene, at);
  show_cursor(scene, at);
  return std::move(requests_);
}

}  // namespace fovea::canvas
