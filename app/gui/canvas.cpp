#include "gui/canvas.h"

#include <QElapsedTimer>
#include <QKeyEvent>
#include <QOpenGLContext>
#include <QTimer>
#include <cmath>

#include "gui/canvas/hands.h"

namespace fovea {

using namespace canvas;

struct Canvas::Impl {
  explicit Impl(Canvas* owner) : canvas(owner), bridge(owner) {}

  void release();
  void wake();
  Scene make_scene();
  void tell(std::vector<Wish> wishes);
  void emit_wish(const Wish& wish);
  Point size() const {
    return {static_cast<float>(canvas->width()), static_cast<float>(canvas->height())};
  }

  Canvas* canvas;
  ImGuiBridge bridge;
  RasterPainter rasters;
  Hands hands;
  void choose_what_is_shown();
  std::optional<std::pair<int, int>> chosen_leaf_shown() const {
    if (!enlarged || !chosen_leaf) return chosen_leaf;
    if (chosen_leaf->first != enlarged->second) return {};
    return std::pair{0, chosen_leaf->second};
  }
  int column_of(int shown) const { return enlarged && shown >= 0 ? enlarged->second : shown; }
  int view_of(int shown) const { return enlarged && shown >= 0 ? enlarged->first : shown; }

  std::shared_ptr<const CanvasModel> given = std::make_shared<CanvasModel>();
  std::shared_ptr<const CanvasModel> model = given;  // what is shown of it
  std::optional<std::pair<int, int>> enlarged;       // view, column
  std::optional<std::pair<int, int>> chosen_leaf;
  int frames_wanted = 0;
  int side = 0;  // of a panel, device pixels
  double frame_ms = 0;
  bool has_gl = false;
};

Canvas::Canvas(QWidget* parent) : QOpenGLWidget(parent), impl_(std::make_unique<Impl>(this)) {
  QSurfaceFormat wanted = format();
  wanted.setVersion(3, 3);
  wanted.setProfile(QSurfaceFormat::CoreProfile);
  setFormat(wanted);
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(320, 240);
  setAccessibleName(tr("Canvas: attention maps, a column a variant, a row a view"));
}

Canvas::~Canvas() {
  makeCurrent();
  impl_->release();
  doneCurrent();
}

void Canvas::set_model(std::shared_ptr<const CanvasModel> model) {
  impl_->given = std::move(model);
  impl_->choose_what_is_shown();
  impl_->hands.forget_viewport();
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

int Canvas::panel_pixels() const {
  return impl_->side;
}
double Canvas::last_frame_ms() const {
  return impl_->frame_ms;
}

void Canvas::initializeGL() {
  // Floating a dock makes a new context: what was made in the old one goes with it.
  QObject::connect(context(), &QOpenGLContext::aboutToBeDestroyed, this, [this] {
    makeCurrent();
    impl_->release();
    doneCurrent();
  });
  impl_->bridge.initialise();
  impl_->rasters.initialise();
  impl_->has_gl = true;
  impl_->wake();
}

void Canvas::resizeGL(int, int) {
  impl_->wake();
}

bool Canvas::event(QEvent* event) {
  if (event->type() == QEvent::KeyPress || event->type() == QEvent::KeyRelease) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool plain = !(key->modifiers() & (Qt::ControlModifier | Qt::AltModifier));
    if (!plain || !Hands::knows(key->key())) return QOpenGLWidget::event(event);
  }
  if (!impl_->bridge.take(event)) return QOpenGLWidget::event(event);
  if (event->type() == QEvent::MouseButtonDblClick &&
      static_cast<QMouseEvent*>(event)->button() == Qt::LeftButton)
    impl_->hands.double_click();
  impl_->wake();
  if (event->type() == QEvent::MouseButtonPress) setFocus(Qt::MouseFocusReason);
  if (event->type() == QEvent::Leave || event->type() == QEvent::FocusOut)
    return QOpenGLWidget::event(event);
  event->accept();
  return true;
}

void Canvas::paintGL() {
  QElapsedTimer clock;
  clock.start();
  impl_->bridge.begin_frame();
  Scene scene = impl_->make_scene();
  auto wishes = impl_->hands.step(impl_->bridge, scene);

  const Theme& theme = impl_->model->dark ? dark_theme : light_theme;
  const ImVec4 ground = ImGui::ColorConvertU32ToFloat4(theme.ground);
  QOpenGLExtraFunctions* gl = context()->extraFunctions();
  gl->glClearColor(ground.x, ground.y, ground.z, 1);
  gl->glClear(GL_COLOR_BUFFER_BIT);
  const auto ratio = static_cast<float>(devicePixelRatioF());
  impl_->side = static_cast<int>(std::lround(scene.grid.side() * ratio));
  impl_->rasters.draw(raster_drawings(scene), impl_->size(), ratio);

  const Ink ink{*ImGui::GetBackgroundDrawList(), impl_->bridge.fonts(), theme};
  draw_scene(ink, scene);
  if (!scene.dragged_column)
    draw_tooltip(ink, scene, {ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y});
  impl_->bridge.end_frame();

  impl_->tell(std::move(wishes));
  impl_->frame_ms = static_cast<double>(clock.nsecsElapsed()) * 1e-6;
  if (impl_->bridge.has_waiting() || --impl_->frames_wanted > 0) update();
}

void Canvas::Impl::release() {
  if (!has_gl) return;
  rasters.release();
  bridge.release();
  has_gl = false;
}

/// ImGui lags a frame behind its input, so a change is drawn twice; then nothing until the next.
void Canvas::Impl::wake() {
  frames_wanted = 2;
  canvas->update();
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
  auto alone = std::make_shared<CanvasModel>(*given);
  alone->views = {given->views[row]};
  alone->column_titles = {given->column_titles[column]};
  alone->column_subtitles.clear();
  if (column < given->column_subtitles.size())
    alone->column_subtitles = {given->column_subtitles[column]};
  alone->cells = {{given->cells[row][column]}};
  alone->selected_column.reset();
  model = std::move(alone);
}

Scene Canvas::Impl::make_scene() {
  Viewport viewport = model->viewport;
  if (!(viewport.row_end > viewport.row_begin) || !(viewport.col_end > viewport.col_begin))
    viewport = whole(std::max<Index>(model->n, 1));
  std::set<const Panel*> shown;
  for (const auto& cells : model->cells)
    for (const CanvasCell& cell : cells) shown.insert(cell.panel.get());
  rasters.keep_only(shown);
  return Scene{
      .model = *model,
      .viewport = viewport,
      .grid = Grid(shape_of(*model, viewport, size(), bridge.fonts())),
      .scales = scales_of(*model),
      .chosen_leaf = chosen_leaf_shown(),
      .picture = [this](const std::shared_ptr<const Panel>& panel) {
        return reinterpret_cast<ImTextureID>(static_cast<std::intptr_t>(rasters.picture(panel)));
      }};
}

/// After the frame: a slot may open a dialog or set a new model.
void Canvas::Impl::tell(std::vector<Wish> wishes) {
  if (wishes.empty()) return;
  QTimer::singleShot(0, canvas, [this, wishes = std::move(wishes)] {
    for (const Wish& wish : wishes) emit_wish(wish);
  });
}

void Canvas::Impl::emit_wish(const Wish& wish) {
  struct Tell {
    Impl& impl;
    Canvas& canvas;
    void operator()(const WishViewport& w) const { emit canvas.viewport_wished(w.viewport); }
    void operator()(const Hover& h) const {
      emit canvas.hovered(h.pointer.query, h.pointer.key, impl.column_of(h.pointer.column),
                          impl.view_of(h.pointer.row));
    }
    void operator()(const PinQuery& p) const { emit canvas.query_pinned(p.query); }
    void operator()(const SelectRectangle& s) const {
      emit canvas.rectangle_selected(s.rows, s.cols);
    }
    void operator()(const ChooseColumn& c) const {
      emit canvas.column_chosen(impl.column_of(c.column));
    }
    void operator()(const ChooseBlock& b) const {
      emit canvas.block_chosen(impl.column_of(b.column), b.query, b.key);
    }
    void operator()(const MoveColumn& m) const { emit canvas.column_moved(m.from, m.to); }
    void operator()(const ChooseLeaf& l) const {
      impl.chosen_leaf = {impl.column_of(l.column), l.leaf};
      impl.wake();
      emit canvas.leaf_chosen(impl.chosen_leaf->first, l.leaf);
    }
    void operator()(const DoubleClick& d) const {
      const int view = impl.view_of(d.row), column = impl.column_of(d.column);
      if (!canvas.show_grid()) canvas.enlarge(view, column);
      emit canvas.panel_double_clicked(view, column);
    }
  };
  std::visit(Tell{*this, *canvas}, wish);
}

}  // namespace fovea
