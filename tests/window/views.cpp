// Pictures: their settings, their enlargement and what they show.
#include "views/views.h"

#include <doctest/doctest.h>

#include <QAction>
#include <QComboBox>
#include <QFile>
#include <QPushButton>
#include <QSettings>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "input/open_source.h"
#include "input/session_file.h"
#include "temporary_directory.h"
#include "view_values.h"
#include "window/docks/pointer_box.h"
#include "window/harness.h"
#include "window/row_settings.h"
#include "window/widgets/info_bar.h"

namespace fovea::test {

TEST_CASE("the bundled encoder opens at the head its provenance recommends") {
  Window window(assets + "/minilm/minilm-l6.safetensors");
  window->findChild<QAction*>("first_look")->trigger();
  const Session& session = window.study().session();
  CHECK(window.study().source()->layers[std::size_t(session.layer)].name == "layer4");
  CHECK(session.head == 10);
  REQUIRE(session.views.size() >= 2);
  CHECK(session.views[0] == find_view("heatmap"));
  CHECK(session.views[1] == find_view("error"));
}

TEST_CASE("a first look has as many rows as the canvas shows at once") {
  for (const QSize size : {QSize(1280, 720), QSize(1920, 1080), QSize(2560, 1440)}) {
    CAPTURE(size.width());
    QSettings().clear();  // of the tests' own organisation
    MainWindow window(make_low_priority_backend());
    window.resize(size);
    window.show();
    window.open_at_first(small);
    const std::size_t columns = 7;
    const auto bottom = [&](std::size_t row) {
      return window.canvas().panel_place(int(row), columns - 1).bottom();
    };
    REQUIRE(wait_until([&] {
      return window.study().panels_ready() && window.study().session().columns.size() == columns &&
             bottom(0) > 0;
    }));
    const std::vector<View> views = window.study().session().views;
    CHECK(views.size() >= 3);
    CHECK(views == window.first_views_in_sight());
    CHECK_FALSE(window.editor().can_undo());  // rows are no step
    const double row = bottom(1) - bottom(0), height = window.canvas().height();
    CHECK(bottom(views.size() - 1) < height);
    // Less than a row is left, unless all are there.
    CHECK((views.size() == 4 || bottom(views.size() - 1) + row > height));
  }
  // A long head has no row that takes long.
  CHECK(first_views(9, 8192).size() < first_views(9, 512).size());
}

TEST_CASE("a session that is opened at first has the rows that it had") {
  const TemporaryDirectory folder;
  SessionFile file{
      .session = standard_session(small.toStdString(), 9), .content_hash = {}, .layout = {}};
  file.session.views = first_views();
  const std::string path = folder / "two.fovea.json";
  write_session(path, file);
  QSettings().clear();
  MainWindow window(make_low_priority_backend());
  window.resize(1920, 1080);
  window.show();
  window.open_at_first(QString::fromStdString(path));
  REQUIRE(wait_until([&] { return window.study().source() && window.study().panels_ready(); }));
  CHECK(window.study().session().views == first_views());
}

TEST_CASE("up to 1024 tokens a pixel is one entry, beyond that a whole number of them") {
  Window window(assets + "/minilm/minilm-l6.safetensors");
  const auto& short_head = std::get<Raster>(panel(window, find_view("heatmap"), 0).body);
  CHECK(short_head.values.rows() == 341);
  CHECK(short_head.pooled == Pool::Kind::none);
  show(window, {find_view("heatmap")}, {"exact"});
  window->open("synthetic:clusters?n=2048&d=32&seed=1");
  REQUIRE(wait_until([&] { return window.study().length() == 2048; }));
  REQUIRE(window.settle());
  const auto& long_head = std::get<Raster>(panel(window, find_view("heatmap"), 0).body);
  CHECK(2048 % long_head.values.rows() == 0);
  CHECK(long_head.pooled == Pool::Kind::mean);
  CHECK_FALSE(long_head.peaks.empty());
}

TEST_CASE("an attention matrix by itself is drawn with its ranks") {
  Window window("synthetic:hmatrix?n=64");
  REQUIRE(window.study().settled());
  const auto& model = *window.study().model();
  CHECK(model.column_titles == std::vector<std::string>{"Attention matrix"});
  CHECK(std::holds_alternative<Raster>(panel(window, find_view("heatmap"), 0).body));
  CHECK(std::holds_alternative<BlockMap>(panel(window, find_view("rank"), 0).body));
  window.trigger("zoom_in");
  REQUIRE(window.settle());
  CHECK(std::get<Raster>(panel(window, find_view("heatmap"), 0).body).rows.size() < 64);
  window->open(small);  // and back to a head
  REQUIRE(wait_until([&] { return !window.study().shows_matrix(); }));
  CHECK(window.settle());
  CHECK(window.study().problem());
}

TEST_CASE("each field of the tool bar and of a row's settings changes its setting") {
  Window window(small);
  const auto choose_in = [&](const QWidget& where, const char* name, int index) {
    auto* box = where.findChild<QComboBox*>(name);
    REQUIRE(box);
    box->setCurrentIndex(index);
    emit box->activated(index);
  };
  const auto choose = [&](const char* view, const char* name, int index) {
    choose_in(window.row_settings(find_view(view)), name, index);
  };
  const auto slide = [&](const char* view, const char* name, int value) {
    QWidget* field = window.row_settings(find_view(view)).findChild<QWidget*>(name);
    REQUIRE(field);
    field->findChild<QSlider*>()->setValue(value);
  };
  choose_in(*window, "view_Pool", 1);
  choose("error", "view_Error", 3);
  choose("mask", "view_Tiles", 4);
  choose("rank", "view_Rank of", 2);
  choose("rank", "view_Blocks", 1);
  choose("rank", "view_Leaf", 4);
  slide("heatmap", "view_Floor", -20);
  slide("rank", "view_ε", -35);
  choose("heatmap", "view_Norm", 1);
  window->findChild<QToolButton*>("view_Range")->setChecked(false);
  const ViewSettings& s = window.study().session().settings;
  CHECK(s.norm == Norm::linear);
  const auto* norm = window->row_settings().findChild<QComboBox*>("view_Norm");
  const auto trigger = [&](const QString& text) {  // an entry of the View menu
    for (QAction* action : window->findChildren<QAction*>())
      if (action->text() == text) action->trigger();
  };
  trigger("per row maximum");
  CHECK(s.norm == Norm::row_max);
  CHECK(norm->currentText() == "per row");
  trigger("linear");
  trigger("linear");  // chosen already, it stays checked
  for (const QAction* action : window->findChildren<QAction*>())
    if (action->text() == "linear") CHECK(action->isChecked());
  CHECK(view_value(s, "error") == "relative");
  CHECK(s.pool == Pool::Kind::max);
  CHECK(view_value(s, "mask_block") == "32");
  CHECK(view_value(s, "rank_of") == "logits");
  CHECK(view_value(s, "rank_partition") == "uniform");
  CHECK(view_value(s, "rank_leaf") == "32");
  CHECK(s.log_floor == doctest::Approx(0.01));
  CHECK(std::stod(view_value(s, "rank_tolerance")) == doctest::Approx(std::pow(10.0, -3.5)));
  CHECK_FALSE(s.shared_range);
  CHECK(window.settle());
}

TEST_CASE("another rank tolerance gives the ranks of a new decomposition") {
  Window window(small);
  window->change("settings", [](Session& s) { set_value(s.settings, "rank_tolerance", "0.1"); });
  REQUIRE(window.settle());
  const Panel moved = panel(window, find_view("rank"), 0);
  Window fresh(small);
  fresh->change("views", [](Session& s) {
    set_value(s.settings, "rank_tolerance", "0.1");
    set_value(s.settings, "rank_leaf", "16");
  });
  REQUIRE(fresh.settle());
  fresh->change("views", [](Session& s) { set_value(s.settings, "rank_leaf", "8"); });
  REQUIRE(fresh.settle());
  const Panel& made = panel(fresh, find_view("rank"), 0);
  CHECK(moved.caption == made.caption);
  const auto &a = std::get<BlockMap>(moved.body), &b = std::get<BlockMap>(made.body);
  CHECK(a.quantity == b.quantity);
  CHECK(a.stored == b.stored);
  REQUIRE(a.map.blocks.size() == b.map.blocks.size());
  for (std::size_t i = 0; i < a.map.blocks.size(); ++i)
    CHECK(a.map.blocks[i].rank == b.map.blocks[i].rank);
}

TEST_CASE("choosing a rank block shows its singular values") {
  Window window(small);
  auto* values = window->findChild<SingularValues*>();
  REQUIRE(values);
  CHECK(values->isHidden());
  emit window->canvas().block_chosen(0, 3, 100);
  CHECK_FALSE(values->isHidden());
  CHECK(values->count() == 64);  // the off-diagonal half of 128 tokens
}

TEST_CASE("a double click enlarges a panel, a second one or Esc goes back") {
  Window window(small);
  Canvas& canvas = window->canvas();
  const int side = canvas.panel_pixels();
  const QPoint at(150, 120);
  QTest::mouseMove(&canvas, at);
  QTest::qWait(300);
  QTest::mouseDClick(&canvas, Qt::LeftButton, Qt::NoModifier, at);
  REQUIRE(wait_until([&] { return canvas.is_enlarged(); }));
  CHECK(wait_until([&] { return canvas.panel_pixels() > 2 * side; }));
  window.shoot("enlarged");
  QTest::mouseDClick(&canvas, Qt::LeftButton, Qt::NoModifier, at);
  CHECK(wait_until([&] { return !canvas.is_enlarged(); }));
  canvas.enlarge(1, 2);
  window.trigger("cancel");
  CHECK_FALSE(canvas.is_enlarged());
  CHECK_FALSE(window.study().paused());
}

TEST_CASE("a session whose source has moved asks where it is") {
  QTemporaryDir dir;
  const QString text = dir.filePath("a.txt"), moved = dir.filePath("b.txt");
  REQUIRE(QFile::copy(assets + "/text/fovea.txt", text));
  {
    Window window(text);
    REQUIRE(window.save(dir.filePath("s.fovea.json")));
  }
  REQUIRE(QFile::rename(text, moved));
  Window window(small);
  window->open(dir.filePath("s.fovea.json"));
  CHECK(window->info_bar().message().contains("a.txt"));
  QString asked;
  window->files().ask_for_source = [&](const QString& missing, bool) {
    asked = missing;
    return moved;
  };
  window->findChild<QPushButton*>("remedy")->click();
  CHECK(asked == text);
  CHECK(wait_until(
      [&] { return window.study().session().source == address_of(moved.toStdString()); }));
  CHECK(window.settle());
}

TEST_CASE("seven columns fit without scrolling on a wide screen") {
  Window window(small, {1840, 1150});
  QTest::qWait(300);
  const double ratio = window->canvas().devicePixelRatioF();
  // Seven sides with gaps between them and both gutters.
  CHECK(7 * window->canvas().panel_pixels() / ratio + 60 + 72 + 80 <= window->canvas().width());
}

TEST_CASE("an enlarged panel of a long head is drawn as finely as the screen is") {
  Window window("synthetic:clusters?n=2048&d=16&seed=1", {1366, 768});
  window->change("views", [](Session& s) { s.views = {find_view("heatmap"), find_view("mask")}; });
  REQUIRE(window.settle());
  const auto pixels = [&] {
    return std::get<Raster>(panel(window, find_view("heatmap"), 1).body).values.rows();
  };
  const Index before = pixels();
  REQUIRE(before < 512);
  window->canvas().enlarge(0, 1);
  CHECK(wait_until([&] { return pixels() > before && window.study().settled(); }));
}

TEST_CASE("the ends of all sliders are sessions that can be read") {
  Window window(small);
  QTemporaryDir dir;
  const QString path = dir.filePath("s.fovea.json");
  for (const auto& [view, field] : {std::pair{"heatmap", "view_Floor"}, {"rank", "view_ε"}})
    for (const bool top : {false, true}) {
      const std::string name = field;
      CAPTURE(name);
      RowSettings& settings = window.row_settings(find_view(view));
      auto* slider = settings.findChild<QWidget*>(field)->findChild<QSlider*>();
      slider->setValue(top ? slider->maximum() : slider->minimum());
      REQUIRE(window.save(path));
      CHECK(read_session(path.toStdString()).session == window.study().session());
    }
}

TEST_CASE("rank maps are coloured by rank or by storage, without computing anything") {
  Window window(small);
  const Panel* before = &panel(window, find_view("rank"), 1);
  auto* box = window.row_settings(find_view("rank")).findChild<QComboBox*>("view_Colour");
  REQUIRE(box);
  emit box->activated(1);
  CHECK(view_value(window.study().session().settings, "rank_colour") == "storage");
  REQUIRE(window.settle());
  CHECK(&panel(window, find_view("rank"), 1) == before);
  window.shoot("ranks by storage");
}

}  // namespace fovea::test
