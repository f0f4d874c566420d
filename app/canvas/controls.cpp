#include "canvas/controls.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "canvas/canvas.h"
#include "panels/pooling_text.h"
#include "views/views.h"

namespace fovea::canvas {
namespace {

constexpr double icon = 16;  // side of a button

void apply(const drawing::Style& style) {
  const auto colour = [](Rgba c) {
    return ImVec4(c.r / 255.f, c.g / 255.f, c.b / 255.f, c.a / 255.f);
  };
  ImGuiStyle& imgui = ImGui::GetStyle();
  for (const auto& [what, c] : {std::pair{ImGuiCol_PopupBg, style.tip},
                                {ImGuiCol_Text, style.text},
                                {ImGuiCol_TextDisabled, faded(style.faint, 0.6)},
                                {ImGuiCol_Border, style.frame},
                                {ImGuiCol_Separator, style.frame},
                                {ImGuiCol_CheckMark, style.accent},
                                {ImGuiCol_Header, faded(style.accent, 0.2)},
                                {ImGuiCol_HeaderHovered, faded(style.accent, 0.25)},
                                {ImGuiCol_HeaderActive, faded(style.accent, 0.35)}})
    imgui.Colors[what] = colour(c);
  imgui.PopupRounding = 6;
  imgui.WindowPadding = {10, 8};
  imgui.ItemSpacing = {10, 5};
}

/// A tooltip whose lines are not too long to be read; at the pointer, or at another place.
void show_tip(const char* words, std::optional<Point> at = {}) {
  if (at) ImGui::SetNextWindowPos({float(at->x), float(at->y)});
  constexpr float widest = 360;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(widest);
  ImGui::TextUnformatted(words);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

/// The colour ranges that are shown: the row's if the row shares one, else the panel's; with column
/// -1 those of all panels.
std::vector<ColourRange> ranges_shown(const Scene& scene, int row, int column) {
  std::vector<ColourRange> ranges;
  const bool shared = scene.scales[row].shared.has_value();
  for (int c = 0; c < std::ssize(scene.columns); ++c) {
    const auto& scale = scene.scales[row].of[c];
    if (!scale || !scale->is_amounts() || (!shared && column >= 0 && c != column)) continue;
    ranges.push_back({scene.view(row), shared ? -1 : scene.columns[c], scale->low, scale->high});
    if (shared) break;
  }
  return ranges;
}

/// The whole title of a colour bar, what a pixel shows, and what can be done with the bar.
std::string words_on(const drawing::ColourScale& scale) {
  std::string words = scale.label;
  if (!scale.pooling.empty()) words += "\nA pixel shows: " + scale.pooling;
  if (scale.pooling.starts_with("mean of ")) words += ", " + peaks_text;
  return words + "\nDrag an end for another range; a double click sets it back";
}

}  // namespace

bool has_colour_menu(View view) {
  return view->has_norm || std::ranges::any_of(view->fields, &ViewField::of_colours);
}

bool is_locked(const Scene& scene, int row, int column) {
  const auto chosen = [&](const ColourRange& shown) {
    return scene.settings.range_of(shown.view, shown.column) ||
           scene.settings.range_of(shown.view, -1);
  };
  return std::ranges::any_of(ranges_shown(scene, row, column), chosen);
}

void toggle_lock(Scene& scene, int row, int column) {
  const bool locked = is_locked(scene, row, column);
  for (const ColourRange& shown : ranges_shown(scene, row, column))
    if (locked)
      scene.settings.reset_range(shown.view, shown.column);
    else
      scene.settings.choose_range(shown);
  if (locked) scene.settings.reset_range(scene.view(row), -1);
}

/// Returns whether it was clicked.
bool Controls::item(const char* name, const Rect& where, const Rect& window) {
  is_touched_ = is_dragged_ = false;
  const Rect seen = where.intersected(window);
  if (seen.empty()) return false;
  ImGui::SetCursorScreenPos({float(seen.x), float(seen.y)});
  const bool clicked = ImGui::InvisibleButton(name, {float(seen.width), float(seen.height)});
  // Active now, or released in this frame.
  is_dragged_ = ImGui::IsItemActive() || ImGui::IsItemDeactivated();
  is_touched_ = ImGui::IsItemHovered() || is_dragged_;
  has_pointer_ |= is_touched_;
  return clicked;
}

/// An item with a ground while the pointer is on it; the caller draws on the ground.
bool Controls::button(const char* name, const Rect& where, const Rect& window, const char* tip) {
  const bool clicked = item(name, where, window);
  if (!is_touched_) return clicked;
  ink_->fill(where, faded(ink_->style.text, 0.14), 4);
  ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (tip) show_tip(tip);
  return clicked;
}

void Controls::step(const ImGuiBridge& bridge, Scene& scene, const drawing::Style& style) {
  apply(style);
  has_pointer_ = false;
  escape_ = bridge.escape();
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::Begin("controls", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBringToFrontOnFocus);
  ScreenInk ink(*ImGui::GetWindowDrawList(), bridge.fonts(), style, {});
  ink_ = &ink;
  const double top = scene.grid.window().y - 4;
  const Rect window{0, top, scene.size.x, scene.size.y - top};
  for (int row = 0; row < scene.grid.rows() && scene.grid.columns() > 0; ++row) {
    ImGui::PushID(row);
    const Clip clip(ink, window);
    const double pointer = ImGui::GetIO().MousePos.y;
    const bool at_row =
        pointer >= scene.grid.panel(row, 0).y && pointer < scene.grid.own_bar(row, 0).bottom();
    row_buttons(scene, row, window, at_row || row == scene.current_row);
    if (at_row || dragged_) touch_row(scene, row, window, bridge.double_clicked());
    ImGui::PopID();
  }
  header_buttons(scene);
  if (!ImGui::IsAnyItemActive()) dragged_.reset();
  if (dragged_ && escape_) {
    scene.settings.ranges = dragged_->before;
    request_settings(scene);
    dragged_.reset();
  }
  if (opening_) ImGui::OpenPopup("menu");
  opening_.reset();
  context_menu(scene);
  has_menu_ = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
  ImGui::End();
  ink_ = nullptr;
}

/// The parameters in the titles of columns can be edited there.
void Controls::header_buttons(Scene& scene) {
  const Rect window = scene.grid.window();
  const Rect titles{window.x - 4, 0, window.width + 8, window.y};
  const ImVec2 pointer = ImGui::GetIO().MousePos;
  for (int column = 0; column < scene.grid.columns(); ++column) {
    const auto place = parameters_place(scene, column);
    const Rect header = scene.grid.header(column).intersected(titles);
    const auto is_at = [&](const Rect& where) {
      return !where.intersected({pointer.x, pointer.y, 1, 1}).empty();
    };
    const std::string note = scene.note(column);
    if (!note.empty() && !has_menu_ && !ImGui::IsAnyMouseDown() && is_at(header) &&
        !(place && is_at(*place)))
      show_tip(note.c_str(), Point{header.x, header.bottom() + 4});
    if (!place) continue;
    ImGui::PushID(2000 + column);
    if (button("parameters", *place, titles, "Edit the parameters here"))
      requests_.push_back([of = scene.columns[column], place = *place](Canvas& c) {
        emit c.parameters_requested(of, QPointF(place.x, place.bottom() + 2));
      });
    if (is_touched_) draw_more_icon({place->right() - icon, place->y, icon, place->height});
    ImGui::PopID();
  }
}

/// Makes legends and colour bars of the row under the pointer react to it.
void Controls::touch_row(Scene& scene, int row, const Rect& window, bool double_clicked) {
  const Rect panels = scene.grid.window();
  for (const PlacedBar& bar : scene.bars(row)) {
    const Rect& seen = bar.column >= 0 ? panels : window;
    ImGui::PushID(bar.column);
    const Point at = bar.bar.legend_at();
    legend_switches(scene, bar.bar.legend(), {bar.at.x + at.x, bar.at.y + at.y}, seen);
    if (bar.bar.scale().is_amounts()) bar_ends(scene, bar, seen, double_clicked);
    ImGui::PopID();
  }
  for (int column = 0; column < scene.grid.columns(); ++column) {
    if (!scene.body<RowCurve>(row, column) && !scene.body<LeafSizes>(row, column)) continue;
    const PlacedPanel placed = scene.placed(row, column);
    ImGui::PushID(1000 + column);
    legend_switches(scene, legend_of(placed.drawn_with(*ink_)), {placed.body.x, placed.body.y},
                    panels);
    ImGui::PopID();
  }
}

/// Buttons of a row: the view at the row's name, the norm above it, the lock of the range below it.
/// They are `seen` while the pointer is in the row or keys act on it.
void Controls::row_buttons(Scene& scene, int row, const Rect& window, bool seen) {
  const Rect label = scene.grid.row_label(row);
  const double length = ink_->letters.width(label_of(scene.view(row)), body_face) + 8;
  const Rect name{label.x, label.centre().y - length / 2, icon + 2, length};
  // Beside a low panel the signs stand at the right of its name rather than on it.
  const double side = label.x + 1 + (label.height < length + 3 * icon ? icon + 2 : 0);
  const std::string tip = scene.view(row)->meaning + "\nA click opens the settings of the row.";
  if (button("view", name, window, tip.c_str()))
    requests_.push_back([row = scene.rows[row], name](Canvas& c) {
      emit c.row_settings_requested(row, QPointF(name.right(), name.y));
    });
  if (seen) draw_more_icon({name.x + 1, name.bottom(), icon, icon / 2});
  if (has_colour_menu(scene.view(row))) {
    const Rect where{side, label.y, icon, icon};
    if (button("norm", where, window, "How numbers become colours"))
      ImGui::OpenPopup("choose norm");
    if (seen) draw_norm_icon(where, scene.settings.norm);
    if (begin_menu("choose norm")) {
      choose_norm(scene, row);
      ImGui::EndPopup();
    }
  }
  if (!ranges_shown(scene, row, -1).empty()) {
    const Rect where{side, label.bottom() - icon, icon, icon};
    const bool locked = is_locked(scene, row, -1);
    if (button("lock", where, window,
               locked ? "Let the range of colours follow the numbers"
                      : "Keep this range of colours")) {
      toggle_lock(scene, row, -1);
      request_settings(scene);
    }
    if (seen || locked) draw_lock_icon(where, locked);
  }
}

/// Draws how a norm maps amounts, from the bottom left to the top right, or as steps for the norm
/// by row.
void Controls::draw_norm_icon(const Rect& where, Norm norm) {
  const Rect box = where.inset(4);
  std::vector<Point> curve;
  for (int i = 0; i <= 8; ++i) {
    const double x = i / 8.0;
    const double y = norm == Norm::log      ? std::log1p(30 * x) / std::log1p(30.0)
                     : norm == Norm::linear ? x
                                            : 0.5 * (int(2.99 * x));
    curve.push_back({box.x + x * box.width, box.bottom() - y * box.height});
  }
  ink_->path(curve, {ink_->style.label, 1.25});
  const Point axes[] = {
      {box.x - 2, box.y}, {box.x - 2, box.bottom() + 2}, {box.right(), box.bottom() + 2}};
  ink_->path(axes, {faded(ink_->style.label, 0.6)});
}

/// Draws a small arrow that points down: more opens here.
void Controls::draw_more_icon(const Rect& where) {
  const Point centre = where.centre();
  const Point arrow[] = {
      {centre.x - 3, centre.y - 1.5}, {centre.x, centre.y + 1.5}, {centre.x + 3, centre.y - 1.5}};
  ink_->path(arrow, {ink_->style.label, 1.5});
}

/// Draws a padlock; the shackle of an open one stands above the body.
void Controls::draw_lock_icon(const Rect& where, bool locked) {
  const Rgba colour = locked ? ink_->style.accent : ink_->style.label;
  const Point centre = where.centre();
  ink_->fill({centre.x - 4, centre.y - 0.5, 8, 6}, colour, 1.5);
  std::vector<Point> shackle;
  const double foot = centre.y + (locked ? 0 : -2);
  shackle.push_back({centre.x - 2.5, centre.y});
  for (int i = 0; i <= 8; ++i) {
    const double angle = std::numbers::pi * (1 + i / 8.0);
    shackle.push_back({centre.x + 2.5 * std::cos(angle), foot - 2 + 2.5 * std::sin(angle)});
  }
  if (locked) shackle.push_back({centre.x + 2.5, centre.y});
  ink_->path(shackle, {colour, 1.5});
}

void Controls::legend_switches(Scene& scene, const drawing::Legend& legend, Point at,
                               const Rect& window) {
  for (const auto& [name, hidden, where] : legend.switches()) {
    if (!button(name.c_str(), where.moved(at.x, at.y).inset(-2), window,
                hidden ? "Hidden in all panels: click to show it again"
                       : "Click to hide it in all panels; a second click shows it again"))
      continue;
    scene.settings.hide(name, !hidden);
    request_settings(scene);
  }
}

void Controls::bar_ends(Scene& scene, const PlacedBar& bar, const Rect& window,
                        bool double_clicked) {
  const Rect where = bar.gradient();
  const bool upright = bar.bar.is_upright();
  bool touched = false;
  for (const bool high : {true, false}) {
    const double end =
        upright ? (high ? where.y : where.bottom()) : (high ? where.right() : where.x);
    item(high ? "high" : "low",
         upright ? Rect{where.x - 3, end - 7, where.width + 6, 14}
                 : Rect{end - 7, where.y - 3, 14, where.height + 6},
         window);
    touched |= is_touched_;
    if (!is_touched_) continue;
    if (ImGui::IsItemActivated()) dragged_ = BarEnd{bar, high, scene.settings.ranges};
    const ImGuiIO& io = ImGui::GetIO();
    const bool moved = io.MouseDelta.x != 0 || io.MouseDelta.y != 0;
    if (is_dragged_ && dragged_ && moved) drag_bar_end(scene, {io.MousePos.x, io.MousePos.y});
    ImGui::SetMouseCursor(upright ? ImGuiMouseCursor_ResizeNS : ImGuiMouseCursor_ResizeEW);
    const Rect grip = upright ? Rect{where.x - 3, end - 2, where.width + 6, 4}
                              : Rect{end - 2, where.y - 3, 4, where.height + 6};
    ink_->fill(grip, ink_->style.accent, 2);
  }
  item("range", where, window);
  if (is_touched_ && !is_dragged_) show_tip(words_on(bar.bar.scale()).c_str());
  if (!(touched || is_touched_) || !double_clicked) return;
  if (is_locked(scene, bar.row, bar.column)) toggle_lock(scene, bar.row, bar.column);
  dragged_.reset();
  request_settings(scene);
}

/// Moves an end of the range to the value at the pointer, on the scale that the bar had when it was
/// pressed, continued beyond both ends.
void Controls::drag_bar_end(Scene& scene, Point at) {
  const auto& [bar, high, before] = *dragged_;
  const Rect where = bar.gradient();
  const drawing::ColourScale& scale = bar.bar.scale();
  const double share = bar.bar.is_upright() ? (where.bottom() - at.y) / where.height
                                            : (at.x - where.x) / where.width;
  const double value = scale.value_at(std::clamp(share, -1.0, 2.0));
  const double least = 1e-3 * (scale.high - scale.bottom());
  if (!(least > 0)) return;
  ColourRange range{scene.view(bar.row), bar.column < 0 ? -1 : scene.columns[bar.column], scale.low,
                    scale.high};
  if (scale.palette == Palette::diverging) {
    range.high = std::max(std::abs(value), least);
    range.low = -range.high;
  } else if (high) {
    range.high = std::max(value, scale.bottom() + least);
  } else {
    range.low = std::min(value, scale.high - least);
  }
  scene.settings.choose_range(range);
  request_settings(scene);
}

void Controls::request_settings(const Scene& scene) {
  requests_.push_back([s = scene.settings](Canvas& c) { emit c.settings_requested(s); });
}

void Controls::choose_view(const Scene& scene, int row) {
  for (const View view : all_views())
    if (ImGui::MenuItem(label_of(view).c_str(), nullptr, scene.view(row) == view))
      requests_.push_back(
          [row = scene.rows[row], view](Canvas& c) { emit c.view_requested(row, view); });
}

/// A choice that a view's own setting offers.
void Controls::choose_own(Scene& scene, const ViewField& field) {
  const Value now = value_of(scene.settings, field);
  for (std::size_t c = 0; c < field.words.size(); ++c) {
    const Value value = field.field.choices[c];
    if (!ImGui::MenuItem(field.words[c].full.c_str(), nullptr, now == value)) continue;
    set_value(scene.settings, field, value);
    request_settings(scene);
  }
}

void Controls::choose_norm(Scene& scene, int row) {
  ViewSettings& settings = scene.settings;
  const View view = scene.view(row);
  for (const ViewField& field : view->fields) {
    if (!field.of_colours && field.key.empty()) continue;
    choose_own(scene, field);
    if (view->has_norm) ImGui::Separator();
  }
  if (!view->has_norm) return;
  for (const Norm norm : all_norms()) {
    if (!ImGui::MenuItem(label_of(norm).c_str(), nullptr, settings.norm == norm)) continue;
    settings.norm = norm;
    request_settings(scene);
  }
}

/// Whether the menu is open. If so, EndPopup must follow. Esc closes the menu.
bool Controls::begin_menu(const char* name) {
  if (!ImGui::BeginPopup(name)) return false;
  if (escape_) ImGui::CloseCurrentPopup();
  return true;
}

}  // namespace fovea::canvas
