// What the canvas asks for by each gesture at many places, against what is kept in
// tests/canvas/kept.
#include <QClipboard>
#include <QGuiApplication>
#include <functional>

#include "canvas/scene.h"
#include "figure/panels.h"
#include "kept_lines.h"
#include "shown.h"

using namespace fovea;

namespace {

/// Every signal that a person's gestures cause, in words; what is asked for is done, as a window
/// does it.
class Requests {
 public:
  explicit Requests(std::shared_ptr<CanvasModel> model) : shown_(model), model_(std::move(model)) {
    Canvas& c = shown_.canvas;
    const auto put = [this](const std::string& text) { lines_.push_back(text); };
    const auto number = [](auto value) { return " " + std::to_string(value); };
    const auto range = [=](IndexRange r) { return number(r.begin) + " to" + number(r.end); };
    QObject::connect(&c, &Canvas::viewport_requested, [=](Viewport v) {
      put("viewport" + number(v.row_begin) + number(v.row_end) + number(v.col_begin) +
          number(v.col_end));
    });
    QObject::connect(&c, &Canvas::hovered, [=](Index query, Index key, int column, int view) {
      put("hovered" + number(query) + number(key) + number(column) + number(view));
    });
    QObject::connect(&c, &Canvas::query_pinned,
                     [=](Index query) { put("pinned" + number(query)); });
    QObject::connect(&c, &Canvas::rectangle_selected, [=](IndexRange rows, IndexRange cols) {
      put("selected" + range(rows) + range(cols));
    });
    QObject::connect(&c, &Canvas::column_chosen,
                     [=](int column) { put("column" + number(column)); });
    QObject::connect(&c, &Canvas::column_moved,
                     [=](int from, int to) { put("moved" + number(from) + number(to)); });
    QObject::connect(&c, &Canvas::comparison_requested,
                     [=](const std::optional<Comparison>& comparison) {
                       put(comparison ? "compare" + number(comparison->column) +
                                            number(comparison->with) + number(int(comparison->mode))
                                      : "compare nothing");
                     });
    QObject::connect(&c, &Canvas::leaves_chosen, [=](int column, IndexRange leaves) {
      put("leaves" + number(column) + range(leaves));
    });
    QObject::connect(&c, &Canvas::block_chosen, [=](int column, Index query, Index key) {
      put("block" + number(column) + number(query) + number(key));
    });
    QObject::connect(&c, &Canvas::settings_requested, [=, this](const ViewSettings& settings) {
      std::string text =
          "settings norm" + number(int(settings.norm)) + " shared" + number(settings.shared_range);
      for (const std::string& hidden : settings.hidden) text += " hidden " + hidden;
      for (const ColourRange& one : settings.ranges)
        text += " range" + number(one.column) + number(one.low) + number(one.high);
      for (const auto& [id, value] : settings.own) text += " " + id;
      put(text);
      model_ = std::make_shared<CanvasModel>(*model_);
      model_->settings = settings;
      shown_.canvas.set_model(model_);
    });
    QObject::connect(&c, &Canvas::view_requested,
                     [=](int row, View view) { put("view" + number(row) + " " + to_text(view)); });
    QObject::connect(&c, &Canvas::row_settings_requested, [=](int row, QPointF at) {
      put("row settings" + number(row) + number(at.x()) + number(at.y()));
    });
    QObject::connect(&c, &Canvas::parameters_requested, [=](int column, QPointF at) {
      put("parameters" + number(column) + number(at.x()) + number(at.y()));
    });
    QObject::connect(&c, &Canvas::action_requested,
                     [=](const QString& name) { put("action " + name.toStdString()); });
    QObject::connect(&c, &Canvas::sight_changed, [=](IndexRange rows, IndexRange columns) {
      put("sight" + range(rows) + range(columns));
    });
  }

  Shown& shown() { return shown_; }
  void begin(const std::string& title) { lines_.push_back("== " + title); }
  /// Draws frames until each event was seen.
  void draw() {
    for (int frame = 0; frame < 2; ++frame) {
      QCoreApplication::processEvents();
      shown_.canvas.grab(QRect(0, 0, 1, 1));
    }
    QCoreApplication::processEvents();
  }
  void end() {
    draw();
    lines_.push_back("cursor " + std::to_string(int(shown_.canvas.cursor().shape())) +
                     (shown_.canvas.is_enlarged() ? ", enlarged" : ""));
  }
  void move(QPoint at) {
    QTest::mouseMove(&shown_.canvas, at);
    draw();
  }
  void click(QPoint at, Qt::MouseButton button = Qt::LeftButton,
             Qt::KeyboardModifiers modifiers = {}) {
    move(at);
    QTest::mousePress(&shown_.canvas, button, modifiers, at);
    draw();
    QTest::mouseRelease(&shown_.canvas, button, modifiers, at);
    draw();
  }
  void drag(QPoint from, QPoint to, Qt::MouseButton button = Qt::LeftButton,
            Qt::KeyboardModifiers modifiers = {}) {
    move(from);
    QTest::mousePress(&shown_.canvas, button, modifiers, from);
    draw();
    QTest::mouseMove(&shown_.canvas, (from + to) / 2);
    draw();
    QTest::mouseMove(&shown_.canvas, to);
    draw();
    QTest::mouseRelease(&shown_.canvas, button, modifiers, to);
    draw();
  }
  void turn(QPoint at, QPoint angle, Qt::KeyboardModifiers modifiers = {}) {
    QWheelEvent event(at, shown_.canvas.mapToGlobal(at), {}, angle, Qt::NoButton, modifiers,
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&shown_.canvas, &event);
    draw();
  }
  void key(Qt::Key key) {
    QTest::keyClick(&shown_.canvas, key);
    draw();
  }
  void check(const std::string& name) { test::check_kept("canvas/kept/" + name + ".txt", lines_); }

 private:
  Shown shown_;
  std::shared_ptr<CanvasModel> model_;
  std::vector<std::string> lines_;
};

}  // namespace

TEST_CASE("what pointing, clicks, drags and the wheel ask for on each panel is as it was") {
  auto model = gallery_model(64);
  model->viewport = {4, 60, 8, 52};
  Requests requests(model);
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 4; ++column) {
      requests.begin("panel " + std::to_string(row) + " " + std::to_string(column));
      const QPoint at = within(requests.shown(), row, column, 0.3, 0.6);
      if (!requests.shown().canvas.rect().contains(at)) continue;
      requests.move(at);
      requests.end();
      requests.click(at);
      requests.click(at);
      requests.click(at, Qt::LeftButton, Qt::ControlModifier);
      requests.drag(at, at + QPoint(25, -30));
      requests.drag(at, at + QPoint(12, 9), Qt::MiddleButton);
      requests.turn(at, {0, 120});
      requests.turn(at, {0, -120}, Qt::ShiftModifier);
      requests.turn(at, {-120, 0});
      requests.end();
      requests.key(Qt::Key_Escape);
    }
  requests.check("gestures");
}

TEST_CASE("what headers, titles of rows, bars and the edges of the canvas ask for is as it was") {
  auto model = matrix_model(64, 3);
  for (int c = 0; c < 3; ++c) {
    model->column_notes.push_back("note " + std::to_string(c));
    model->column_figures.push_back(
        ColumnFigures{.parameters = "block 16", .error = 0.2, .error_name = "error", .cost = 0.5});
  }
  Requests requests(model);
  const QRect all = requests.shown().canvas.rect();
  // A grid of places: whatever can be touched there.
  for (int y = 4; y < all.height(); y += y < 80 ? 19 : 150)
    for (int x = 4; x < all.width(); x += x < 80 || x > all.width() - 80 ? 36 : 190) {
      requests.begin("at " + std::to_string(x) + " " + std::to_string(y));
      requests.click({x, y});
      requests.end();
      requests.key(Qt::Key_Escape);
    }
  const auto header = [&](int column) {
    return QPoint(int(requests.shown().canvas.panel_place(0, column).left()) + 12, 10);
  };
  requests.begin("drags of headers");
  requests.drag(header(0), header(2) + QPoint(40, 0));
  requests.drag(header(2), header(0));
  requests.drag(header(1), header(1) + QPoint(3, 1));
  requests.end();
  requests.check("places");
}

TEST_CASE("what each entry of the context menus asks for is as it was") {
  for (const bool of_header : {false, true}) {
    auto model = matrix_model(64, 3);
    model->selection = {IndexRange{10, 20}, IndexRange{30, 50}};
    Requests requests(model);
    for (int entry = 0; entry < 19; ++entry) {
      const QPoint at = of_header
                            ? QPoint(int(requests.shown().canvas.panel_place(0, 1).left()) + 12, 10)
                            : within(requests.shown(), 0, 1, 0.2, 0.15);
      requests.begin("entry " + std::to_string(entry));
      QGuiApplication::clipboard()->setText("");
      requests.click(at, Qt::RightButton);
      requests.move(at + QPoint(25, 15 + 17 * entry));
      requests.click(at + QPoint(25, 15 + 17 * entry));
      requests.begin("clipboard " + QGuiApplication::clipboard()->text().toStdString());
      requests.end();
      requests.key(Qt::Key_Escape);
    }
    requests.check(of_header ? "header_menu" : "panel_menu");
  }
}
