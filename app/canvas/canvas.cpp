#include "canvas/canvas.h"

#include <QKeyEvent>
#include <QOpenGLContext>
#include <QOpenGLFunctions>
#include <QTimer>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "canvas/controls.h"

namespace fovea {

using namespace canvas;

struct Canvas::Impl {
  explicit Impl(Canvas* owner) : canvas(owner), bridge(owner) {
    constexpr int half_a_second = 500;  // ms
    blink_timer.setInterval(half_a_second);
    QObject::connect(&blink_timer, &QTimer::timeout, owner, [this] { blink(); });
  }

  void wake(int frames = 1);
  void choose_what_is_shown();
  void choose_rows_and_columns();
  void choose_blinking(bool visible);
  void blink();
  /// The place in the grid, or -1 if it is not shown.
  static int place_in(const std::vector<int>& shown, int index) {
    const auto it = std::ranges::find(shown, index);
    return it == shown.end() ? -1 : int(it - shown.begin());
  }
  int shown_row(int view) const { return place_in(rows, view); }
  int shown_column(int column) const { return place_in(columns, column); }
  /// The model that is shown, and the one in whose place it is shown.
  std::vector<const CanvasModel*> models() const {
    if (!model->in_place_of) return {model.get()};
    return {model.get(), model->in_place_of.get()};
  }
  void forget_others();
  Scene make_scene();
  std::vector<Request> read_input(Scene& scene);
  void draw(const Scene& scene);
  void send(std::vector<Request> requests);
  using Sight = std::pair<IndexRange, IndexRange>;  // rows and columns of the model
  static Sight sight_of(const Scene& scene);
  Point size() const { return {double(canvas->width()), double(canvas->height())}; }

  Canvas* canvas;
  ImGuiBridge bridge;
  RasterPainter rasters;
  Gestures gestures;
  Controls controls;
  std::shared_ptr<const CanvasModel> model = std::make_shared<CanvasModel>();
  ViewSettings settings;                        // of the model, or as a control has changed them
  std::optional<std::pair<int, int>> enlarged;  // view, column
  PanelSize panel_size;
  double drawn_factor = 1;         // of the last frame's panels
  std::vector<int> rows, columns;  // of the model, that are shown
  std::optional<std::pair<int, IndexRange>> chosen_leaves;
  FoundTokens found;
  PreparedPanels prepared;
  int current_view = -1;
  std::optional<int> awaited;  // a column to scroll to once the model has it
  QTimer blink_timer;          // runs only while two columns blink and can be seen
  bool shows_other = false;    // of these two the other is seen
  bool focus_by_key = false;
  int frames_wanted = 0;
  Grid grid;     // of the last frame
  int side = 0;  // of a panel, device pixels
  Sight sight;   // in the last frame
};

Canvas::Impl::Sight Canvas::Impl::sight_of(const Scene& scene) {
  const Rect window = scene.grid.window();
  Sight sight;
  const auto add = [](Index index, IndexRange& range) {
    range = {range.size() == 0 ? index : range.begin, std::max(range.end, index + 1)};
  };
  for (int r = 0; r < scene.grid.rows(); ++r)
    for (int c = 0; c < scene.grid.columns(); ++c) {
      if (scene.grid.panel(r, c).intersected(window).empty()) continue;
      add(scene.rows[r], sight.first);
      add(scene.columns[c], sight.second);
    }
  return sight;
}

Canvas::Canvas(QWidget* parent) : GlWidget(parent), impl_(std::make_unique<Impl>(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(320, 200);
  setAccessibleName(tr("Canvas: attention maps, a column a variant, a row a view"));
}

Canvas::~Canvas() {
  release_gl([this] {
    impl_->rasters.release();
    impl_->bridge.release();
  });
}

void Canvas::set_model(std::shared_ptr<const CanvasModel> model) {
  const Lengths before = impl_->model->lengths;
  impl_->model = std::move(model);
  impl_->settings = impl_->model->settings;
  impl_->choose_what_is_shown();
  impl_->gestures.model_changed();
  if (!(impl_->model->lengths == before)) impl_->gestures.lengths_changed(impl_->model->lengths);
  if (impl_->awaited) set_current(impl_->current_view, *impl_->awaited);
  impl_->wake();
}

void Canvas::enlarge(int view, int column) {
  impl_->enlarged = {view, column};
  impl_->choose_what_is_shown();
  impl_->wake();
}

bool Canvas::show_grid() {
  if (!impl_->enlarged) return false;
  impl_->enlarged.reset();
  impl_->choose_what_is_shown();
  impl_->wake();
  return true;
}

bool Canvas::is_enlarged() const {
  return impl_->enlarged.has_value();
}

void Canvas::resize_panels(double steps, std::optional<QPointF> about) {
  if (impl_->enlarged || impl_->grid.empty() || steps == 0) return;
  constexpr double step = 1.25;
  double& factor = impl_->panel_size.factor;
  const double side = impl_->grid.side(), without = side / impl_->drawn_factor;
  factor = std::clamp(factor * std::pow(step, steps), Grid::smallest_side / without,
                      Grid::largest_side / without);
  if (about) impl_->gestures.keep_place({about->x(), about->y()}, side);
  impl_->wake();
}

void Canvas::standard_panels() {
  impl_->panel_size = {};
  impl_->wake();
}

void Canvas::fit_columns() {
  impl_->panel_size = {.all_columns = true};
  impl_->gestures.show_panel(-1, 0);
  impl_->wake();
}

int Canvas::rows_in_sight(int columns) const {
  return Grid::rows_in_sight({double(width()), double(height())}, columns);
}

void Canvas::toggle_lock(int view, int column) {
  if (impl_->grid.empty()) return;  // nothing was drawn yet
  Scene scene = impl_->make_scene();
  const int row = impl_->shown_row(view), shown = impl_->shown_column(column);
  if (!scene.panel(row, shown)) return;
  canvas::toggle_lock(scene, row, shown);
  emit settings_requested(scene.settings);
}

void Canvas::point_to(Index query, Index key) {
  impl_->gestures.point_elsewhere(query, key);
  impl_->wake();
}

void Canvas::set_found(FoundTokens tokens) {
  impl_->found = std::move(tokens);
  impl_->wake();
}

void Canvas::set_chosen_leaves(int column, IndexRange leaves) {
  impl_->chosen_leaves.reset();
  if (leaves.size() > 0) impl_->chosen_leaves = {column, leaves};
  impl_->wake();
}

void Canvas::set_current(int view, int column) {
  impl_->current_view = view;
  const int shown = impl_->shown_column(column);
  impl_->awaited.reset();
  if (column >= int(impl_->model->column_titles.size()))
    impl_->awaited = column;
  else if (shown >= 0)
    impl_->gestures.show_panel(impl_->shown_row(view), shown);
  impl_->wake();
}

int Canvas::panel_pixels() const {
  return impl_->side;
}

double Canvas::border() const {
  return impl_->gestures.border();
}

QRectF Canvas::panel_place(int view, int column) const {
  const int row = impl_->shown_row(view), shown = impl_->shown_column(column);
  const Grid& grid = impl_->grid;
  if (row < 0 || shown < 0 || row >= grid.rows() || shown >= grid.columns()) return {};
  const Rect at = grid.panel(row, shown);
  return {at.x, at.y, at.width, at.height};
}

void Canvas::initialise_gl() {
  impl_->bridge.initialise();
  impl_->rasters.initialise();
}

bool Canvas::event(QEvent* event) {
  const auto* key = dynamic_cast<QKeyEvent*>(event);
  // Esc ends a drag or closes a menu; otherwise it is a shortcut of the window.
  if (event->type() == QEvent::ShortcutOverride && key->key() == Qt::Key_Escape &&
      (impl_->gestures.is_dragging() || impl_->controls.is_dragging() ||
       impl_->controls.has_menu())) {
    event->accept();
    return true;
  }
  const bool pressed = event->type() == QEvent::KeyPress;
  if (pressed || event->type() == QEvent::KeyRelease) {
    // Space pans and Esc cancels; all other keys are for the window. A pressed key may be released
    // with modifiers that came later.
    const bool known = key->key() == Qt::Key_Space || key->key() == Qt::Key_Escape;
    const bool plain = !(key->modifiers() & (Qt::ControlModifier | Qt::AltModifier));
    if (!known || (pressed && !plain)) return GlWidget::event(event);
  }
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) {
    const auto reason = static_cast<QFocusEvent*>(event)->reason();
    impl_->focus_by_key = event->type() == QEvent::FocusIn &&
                          (reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason);
    impl_->wake();
  }
  // A minimised window is hidden too, though its widgets are still visible.
  if (event->type() == QEvent::Show || event->type() == QEvent::Hide)
    impl_->choose_blinking(event->type() == QEvent::Show);
  if (!impl_->bridge.take(*event)) return GlWidget::event(event);
  impl_->wake(2);
  if (event->type() == QEvent::MouseButtonPress) setFocus(Qt::MouseFocusReason);
  if (event->type() == QEvent::Leave || event->type() == QEvent::FocusOut)
    return GlWidget::event(event);
  event->accept();
  return true;
}

void Canvas::draw_gl() {
  impl_->bridge.begin_frame();
  impl_->forget_others();
  Scene scene = impl_->make_scene();
  auto requests = impl_->read_input(scene);

  const int side = int(std::lround(scene.grid.side() * devicePixelRatioF()));
  if (!scene.grid.empty() &&
      std::exchange(impl_->side, side) != side)  // emitted after the frame, as requests are
    QTimer::singleShot(0, this, [this, side] { emit panel_pixels_changed(side); });
  const Impl::Sight sight = Impl::sight_of(scene);
  if (!scene.grid.empty() && std::exchange(impl_->sight, sight) != sight)
    QTimer::singleShot(0, this, [this, sight] { emit sight_changed(sight.first, sight.second); });
  impl_->grid = scene.grid;
  impl_->drawn_factor = scene.panel_size.factor;
  impl_->draw(scene);
  impl_->bridge.end_frame();

  impl_->send(std::move(requests));
  // Later, because Qt would draw an update() from here at once, before any input, even with a timer
  // of 0 ms.
  if (impl_->bridge.has_waiting() || --impl_->frames_wanted > 0)
    QTimer::singleShot(4, this, [this] { request_frame(); });
}

/// An open menu takes all input; a control takes the clicks on it.
std::vector<Request> Canvas::Impl::read_input(Scene& scene) {
  gestures.place(scene);
  controls.step(bridge, scene, drawing::screen_style(model->dark));
  std::vector<Request> requests = controls.take_requests();
  if (controls.has_menu()) return requests;
  std::ranges::move(gestures.step(bridge, scene, !controls.has_pointer()),
                    std::back_inserter(requests));
  if (const auto& clicked = gestures.right_click()) {
    controls.open_menu(*clicked);
    wake(4);  // ImGui finds the menu's size in its first frame and shows it in the next
  }
  return requests;
}

void Canvas::Impl::draw(const Scene& scene) {
  const drawing::Style& style = drawing::screen_style(model->dark);
  ScreenInk ink(*ImGui::GetBackgroundDrawList(), bridge.fonts(), style,
                [this](const OutputPicture& picture) {
                  return reinterpret_cast<ImTextureID>(std::intptr_t{rasters.picture(picture)});
                });
  draw_scene(ink, scene);
  if (focus_by_key) ink.outline({0.5, 0.5, size().x - 1, size().y - 1}, {style.accent});
  const ImVec2 pointer = ImGui::GetIO().MousePos;
  if (!scene.dragged_column && !controls.has_pointer() && !controls.has_menu())
    draw_hover_card(ink, scene, {pointer.x, pointer.y});

  QOpenGLFunctions* gl = QOpenGLContext::currentContext()->functions();
  gl->glClearColor(style.ground.r / 255.f, style.ground.g / 255.f, style.ground.b / 255.f, 1);
  gl->glClear(GL_COLOR_BUFFER_BIT);
  rasters.draw(ink.rasters(), size(), canvas->devicePixelRatioF());
}

/// A change is drawn once, and input twice, since ImGui lags a frame behind; then nothing is drawn
/// until the next.
void Canvas::Impl::wake(int frames) {
  frames_wanted = std::max(frames_wanted, frames);
  canvas->request_frame();
}

/// Shows the whole model, or the enlarged panel, and beside an output picture also the exact one to
/// compare with.
void Canvas::Impl::choose_what_is_shown() {
  choose_rows_and_columns();
  choose_blinking(canvas->isVisible());
}

void Canvas::Impl::choose_rows_and_columns() {
  rows.resize(std::min(model->views.size(), model->cells.size()));
  columns.resize(model->column_titles.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::iota(columns.begin(), columns.end(), 0);
  if (!enlarged) return;
  const int view = enlarged->first, column = enlarged->second;
  if (view >= std::ssize(rows) || column >= std::ssize(columns) ||
      column >= std::ssize(model->cells[view]))
    return enlarged.reset();
  const auto is_picture = [&](int c) {
    const auto& cells = model->cells[view];
    return c < std::ssize(cells) && cells[c].panel &&
           std::holds_alternative<OutputPicture>(cells[c].panel->body);
  };
  rows = {view};
  columns = {column};
  const auto exact = model->exact_of(column);
  if (exact && *exact != column && is_picture(column) && is_picture(*exact))
    columns = {*exact, column};
}

void Canvas::Impl::choose_blinking(bool visible) {
  const auto& comparison = model->comparison;
  const bool blinks = comparison && comparison->mode == ComparisonMode::blink;
  if (!blinks) shows_other = false;
  if (!blinks || !visible || shown_column(comparison->column) < 0)
    blink_timer.stop();
  else if (!blink_timer.isActive())
    blink_timer.start();
}

void Canvas::Impl::blink() {
  shows_other = !shows_other;
  wake();
}

Scene Canvas::Impl::make_scene() {
  for (const CanvasModel* with_panels : models())
    for (const auto& cells : with_panels->cells)
      for (const CanvasCell& cell : cells)
        if (cell.panel) prepared.try_emplace(cell.panel, *cell.panel);
  Scene scene{.model = *model,
              .settings = settings,
              .fonts = bridge.fonts(),
              .prepared = prepared,
              .rows = rows,
              .columns = columns,
              .panel_size = panel_size,
              .enlarged = enlarged.has_value(),
              .pixel_ratio = canvas->devicePixelRatioF(),
              .chosen_leaves = chosen_leaves,
              .found = found,
              .current_row = shown_row(current_view),
              .shows_other = shows_other};
  scene.lay_out(size());
  return scene;
}

/// Forgets what was made for panels that are no longer shown. Textures are known by the address of
/// a body; `prepared` keeps panels alive until their textures are freed, so that no new body has
/// the address of an old one.
void Canvas::Impl::forget_others() {
  std::set<const Panel*> shown;
  std::set<const void*> bodies;
  for (const CanvasModel* with_panels : models())
    for (const auto& cells : with_panels->cells)
      for (const CanvasCell& cell : cells) {
        if (!cell.panel) continue;
        shown.insert(cell.panel.get());
        std::visit([&](const auto& body) { bodies.insert(&body); }, cell.panel->body);
      }
  rasters.keep_only(bodies);
  std::erase_if(prepared, [&](const auto& known) { return !shown.contains(known.first.get()); });
}

/// Called after the frame, as a slot may open a dialog or set a new model.
void Canvas::Impl::send(std::vector<Request> requests) {
  if (requests.empty()) return;
  QTimer::singleShot(0, canvas, [this, requests = std::move(requests)] {
    for (const Request& request : requests) request(*canvas);
  });
}

}  // namespace fovea

#include "moc_canvas.cpp"
