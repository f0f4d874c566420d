#include "canvas/canvas.h"

#include <QKeyEvent>
#include <QOpenGLContext>
#include <QOpenGLFunctions>
#include <QTimer>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "canvas/enlarged_panel.h"
#include "canvas/gestures.h"
#include "canvas/viewport.h"

namespace fovea {

using namespace canvas;

struct Canvas::Impl {
  explicit Impl(Canvas* owner) : canvas(owner), bridge(owner) {}

  void wake(int frames = 1);
  Scene make_scene();
  PreparedOf prepare_shown();
  void draw(const Scene& scene, double ratio);
  void send(std::vector<Request> requests);
  void emit_request(const Request& request);
  void undo_by_choosing_column();
  Point size() const {
    return {static_cast<double>(canvas->width()), static_cast<double>(canvas->height())};
  }

  Canvas* canvas;
  ImGuiBridge bridge;
  RasterPainter rasters;
  Gestures gestures;
  void choose_what_is_shown();
  std::optional<std::pair<int, IndexRange>> chosen_leaves_shown() const;
  int shown_column(int column) const;  // -1: it is not
  int column_of(int shown) const {
    const auto s = static_cast<std::size_t>(shown);
    return enlarged && shown >= 0 && s < shown_columns.size() ? shown_columns[s] : shown;
  }
  int view_of(int shown) const { return enlarged && shown >= 0 ? enlarged->first : shown; }

  std::shared_ptr<const CanvasModel> given = std::make_shared<CanvasModel>();
  std::shared_ptr<const CanvasModel> model = given;  // what is shown of it
  std::optional<std::pair<int, int>> enlarged;       // view, column
  std::vector<int> shown_columns;                    // while one is enlarged
  std::optional<std::pair<int, IndexRange>> chosen_leaves;
  std::function<void()> undoing;  // takes the last click back
  std::vector<Index> found;
  std::map<std::shared_ptr<const Panel>, drawing::PreparedPanel> prepared;  // of the panels shown
  int current_view = -1;
  bool focus_by_key = false;
  int frames_wanted = 0;
  Grid grid;     // of the last frame
  int side = 0;  // of a panel, device pixels
};

Canvas::Canvas(QWidget* parent) : GlWidget(parent), impl_(std::make_unique<Impl>(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(320, 240);
  setAccessibleName(tr("Canvas: attention maps, a column a variant, a row a view"));
}

Canvas::~Canvas() {
  release_gl([this] {
    impl_->rasters.release();
    impl_->bridge.release();
  });
}

void Canvas::set_model(std::shared_ptr<const CanvasModel> model) {
  impl_->given = std::move(model);
  impl_->choose_what_is_shown();
  impl_->gestures.forget_viewport();
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

void Canvas::point_to(Index query, Index key) {
  impl_->gestures.point_elsewhere(query, key);
  impl_->wake();
}

void Canvas::set_found(std::vector<Index> tokens) {
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
  impl_->gestures.show_panel(impl_->enlarged ? 0 : view, impl_->shown_column(column));
  impl_->wake();
}

int Canvas::panel_pixels() const {
  return impl_->side;
}
QRectF Canvas::panel_place(int view, int column) const {
  const int shown = impl_->shown_column(column), row = impl_->enlarged ? 0 : view;
  const bool there = !impl_->enlarged || impl_->enlarged->first == view;
  if (!there || shown < 0 || shown >= impl_->grid.columns() || row >= impl_->grid.rows()) return {};
  const Rect at = impl_->grid.panel(row, shown);
  return {at.x, at.y, at.width, at.height};
}

void Canvas::initialise_gl() {
  impl_->bridge.initialise();
  impl_->rasters.initialise();
}

bool Canvas::event(QEvent* event) {
  // While something is dragged Esc cancels that; else it is a shortcut of the window.
  if (event->type() == QEvent::ShortcutOverride && impl_->gestures.is_dragging() &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    event->accept();
    return true;
  }
  if (event->type() == QEvent::KeyPress || event->type() == QEvent::KeyRelease) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool plain = !(key->modifiers() & (Qt::ControlModifier | Qt::AltModifier));
    // Space pans and Esc cancels; all other keys are for the window.
    const bool known = key->key() == Qt::Key_Space || key->key() == Qt::Key_Escape;
    if (!plain || !known) return GlWidget::event(event);
  }
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) {
    const auto reason = static_cast<QFocusEvent*>(event)->reason();
    impl_->focus_by_key = event->type() == QEvent::FocusIn &&
                          (reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason);
    impl_->wake();
  }
  if (!impl_->bridge.take(event)) return GlWidget::event(event);
  impl_->wake(2);
  if (event->type() == QEvent::MouseButtonPress) setFocus(Qt::MouseFocusReason);
  if (event->type() == QEvent::Leave || event->type() == QEvent::FocusOut)
    return GlWidget::event(event);
  event->accept();
  return true;
}

void Canvas::draw_gl() {
  impl_->bridge.begin_frame();
  Scene scene = impl_->make_scene();
  auto requests = impl_->gestures.step(impl_->bridge, scene);

  const double ratio = devicePixelRatioF();
  const int side = static_cast<int>(std::lround(scene.grid.side() * ratio));
  const bool has_panels = scene.grid.rows() > 0 && scene.grid.columns() > 0;
  if (has_panels && std::exchange(impl_->side, side) != side)  // after the frame, as requests
    QTimer::singleShot(0, this, [this, side] { emit panel_pixels_changed(side); });
  impl_->grid = scene.grid;
  impl_->draw(scene, ratio);
  impl_->bridge.end_frame();

  impl_->send(std::move(requests));
  // Later: Qt draws an update() from here at once, before any input; even a timer of 0 ms would.
  if (impl_->bridge.has_waiting() || --impl_->frames_wanted > 0)
    QTimer::singleShot(4, this, [this] { request_frame(); });
}

void Canvas::Impl::draw(const Scene& scene, double ratio) {
  const Theme& theme = theme_for(model->dark);
  ScreenInk ink(
      *ImGui::GetBackgroundDrawList(), bridge.fonts(), theme, [this](const OutputPicture& picture) {
        return reinterpret_cast<ImTextureID>(static_cast<std::intptr_t>(rasters.picture(picture)));
      });
  draw_scene(ink, scene);
  if (focus_by_key) ink.outline({0.5, 0.5, size().x - 1, size().y - 1}, {theme.accent});
  const ImVec2 pointer = ImGui::GetIO().MousePos;
  if (!scene.dragged_column) draw_tooltip(ink, scene, {pointer.x, pointer.y});

  QOpenGLFunctions* gl = QOpenGLContext::currentContext()->functions();
  const auto channel = [](std::uint8_t c) { return static_cast<float>(c) / 255; };
  gl->glClearColor(channel(theme.ground.r), channel(theme.ground.g), channel(theme.ground.b), 1);
  gl->glClear(GL_COLOR_BUFFER_BIT);
  rasters.draw(ink.rasters(), size(), ratio);
}

/// A change is drawn once, input twice, since ImGui lags a frame behind it; then nothing until the
/// next.
void Canvas::Impl::wake(int frames) {
  frames_wanted = std::max(frames_wanted, frames);
  canvas->request_frame();
}

/// All of the given model, or a model of the enlarged panel alone.
void Canvas::Impl::choose_what_is_shown() {
  model = given;
  if (!enlarged) return;
  const auto row = static_cast<std::size_t>(enlarged->first);
  const auto column = static_cast<std::size_t>(enlarged->second);
  if (row >= given->cells.size() || row >= given->views.size() ||
      column >= given->cells[row].size() || column >= given->column_titles.size())
    return enlarged.reset();
  shown_columns = columns_enlarged(*given, enlarged->first, enlarged->second);
  model = only(*given, row, shown_columns);
}

int Canvas::Impl::shown_column(int column) const {
  if (!enlarged) return column;
  const auto it = std::ranges::find(shown_columns, column);
  return it == shown_columns.end() ? -1 : static_cast<int>(it - shown_columns.begin());
}

std::optional<std::pair<int, IndexRange>> Canvas::Impl::chosen_leaves_shown() const {
  if (!chosen_leaves || shown_column(chosen_leaves->first) < 0) return {};
  return std::pair{shown_column(chosen_leaves->first), chosen_leaves->second};
}

Scene Canvas::Impl::make_scene() {
  Viewport viewport = model->viewport;
  if (!(viewport.row_end > viewport.row_begin) || !(viewport.col_end > viewport.col_begin))
    viewport = whole(std::max<Index>(model->n, 1));
  const PreparedOf its_prepared = prepare_shown();
  return Scene{.model = *model,
               .fonts = bridge.fonts(),
               .viewport = viewport,
               .grid = Grid(shape_of(*model, viewport, size(), bridge.fonts(), its_prepared)),
               .scales = scales_of(model->ranges_of ? *model->ranges_of : *model),
               .chosen_leaves = chosen_leaves_shown(),
               .found = found,
               .current_row = enlarged ? -1 : current_view,
               .columns_move = !enlarged,
               .prepared = its_prepared};
}

/// Each panel is prepared once, for as long as it is shown.
PreparedOf Canvas::Impl::prepare_shown() {
  std::set<std::shared_ptr<const Panel>> shown;
  std::set<const void*> bodies;
  for (const auto& cells : model->cells)
    for (const CanvasCell& cell : cells) {
      if (!cell.panel) continue;
      shown.insert(cell.panel);
      std::visit([&](const auto& body) { bodies.insert(&body); }, cell.panel->body);
    }
  // The panels that are no longer shown live until here, so that no new one has their addresses.
  rasters.keep_only(bodies);
  std::erase_if(prepared, [&](const auto& known) { return !shown.contains(known.first); });
  return [this](const std::shared_ptr<const Panel>& panel) -> const drawing::PreparedPanel& {
    return prepared.try_emplace(panel, *panel).first->second;
  };
}

/// After the frame: a slot may open a dialog or set a new model.
void Canvas::Impl::send(std::vector<Request> requests) {
  if (requests.empty()) return;
  QTimer::singleShot(0, canvas, [this, requests = std::move(requests)] {
    for (const Request& request : requests) emit_request(request);
  });
}

/// A column that was chosen is chosen again.
void Canvas::Impl::undo_by_choosing_column() {
  undoing = nullptr;
  if (const auto column = given->selected_column)
    undoing = [c = canvas, column] { emit c->column_chosen(*column); };
}

void Canvas::Impl::emit_request(const Request& request) {
  struct Emitter {
    Impl& impl;
    Canvas& canvas;
    void operator()(const RequestViewport& r) const { emit canvas.viewport_requested(r.viewport); }
    void operator()(const Hover& h) const {
      emit canvas.hovered(h.pointer.query, h.pointer.key, impl.column_of(h.pointer.column),
                          impl.view_of(h.pointer.row));
    }
    void operator()(const PinQuery& p) const {
      // Pinning a pinned query again unpins it.
      const Index again = impl.given->pinned_query.value_or(p.query);
      impl.undoing = [&c = canvas, again] { emit c.query_pinned(again); };
      emit canvas.query_pinned(p.query);
    }
    void operator()(const SelectRectangle& s) const {
      emit canvas.rectangle_selected(s.rows, s.cols);
    }
    void operator()(const ChooseColumn& c) const {
      impl.undo_by_choosing_column();
      emit canvas.column_chosen(impl.column_of(c.column));
    }
    void operator()(const ChooseBlock& b) const {
      impl.undo_by_choosing_column();
      emit canvas.block_chosen(impl.column_of(b.column), b.query, b.key);
    }
    void operator()(const MoveColumn& m) const {  // never of an enlarged panel
      emit canvas.column_moved(m.from, m.to);
    }
    void operator()(const ChooseLeaves& l) const {
      const std::pair chosen{impl.column_of(l.column), l.leaves};
      impl.undoing = [&c = canvas, again = impl.chosen_leaves.value_or(chosen)] {
        emit c.leaves_chosen(again.first, again.second);
      };
      emit canvas.leaves_chosen(chosen.first, chosen.second);
    }
    void operator()(const DoubleClick& d) const {
      if (d.clicked && impl.undoing) impl.undoing();
      if (!canvas.show_grid()) canvas.enlarge(impl.view_of(d.row), impl.column_of(d.column));
    }
  };
  std::visit(Emitter{*this, *canvas}, request);
}

}  // namespace fovea
