// Bars that float over the canvas: it neither moves nor gets another size when they come and go.
#include <doctest/doctest.h>

#include <QDir>
#include <QSettings>
#include <QToolButton>
#include <cstring>
#include <new>

#include "temporary_directory.h"
#include "window/files.h"
#include "window/harness.h"
#include "window/widgets/floating_bars.h"

namespace fovea::test {

TEST_CASE("messages and bars lie over the canvas, which stays as it is") {
  Window window(small);
  Canvas& canvas = window->canvas();
  const QRect place(canvas.mapTo(&*window, QPoint()), canvas.size());
  const QRectF panel = canvas.panel_place(0, 0);
  const auto stays = [&] {
    REQUIRE(window.settle());
    CHECK(QRect(canvas.mapTo(&*window, QPoint()), canvas.size()) == place);
    CHECK(canvas.panel_place(0, 0) == panel);
  };
  const auto lies_over_canvas = [&](const QWidget& bar) {
    REQUIRE(wait_until([&] { return bar.isVisible() && bar.height() > 10; }));
    CHECK(place.contains(QRect(bar.mapTo(&*window, QPoint()), bar.size())));
  };
  window->info_bar().show_message("Something went wrong, and this says what.");
  lies_over_canvas(window->info_bar());
  stays();
  window->find_bar().open_bar();
  lies_over_canvas(window->find_bar());
  CHECK(window->find_bar().mapTo(&*window, QPoint()).y() >
        window->info_bar().mapTo(&*window, QPoint()).y());
  stays();
  window->live_bar().show();
  lies_over_canvas(window->live_bar());
  stays();
  // A longer message takes more lines.
  const int before = window->info_bar().height();
  window->info_bar().show_message(QString("words ").repeated(200));
  CHECK(wait_until([&] { return window->info_bar().height() > before; }));
  lies_over_canvas(window->info_bar());
  stays();
  window->info_bar().findChild<QToolButton*>()->click();
  CHECK_FALSE(window->info_bar().isVisible());
  window->find_bar().close_bar();
  window->live_bar().hide();
  stays();
}

TEST_CASE("floating bars begin without them, whatever their memory held before") {
  alignas(FloatingBars) std::byte memory[sizeof(FloatingBars)];
  std::memset(memory, 0xff, sizeof memory);
  auto* below = new QWidget;
  auto* bars = new (memory) FloatingBars(*below);
  CHECK(below->parent() == bars);
  bars->~FloatingBars();
}

TEST_CASE("an export begins in the folder of the last one, not in that of the opened file") {
  const TemporaryDirectory folder;
  QSettings().remove("export_directory");
  QSettings().setValue("directory", assets);
  CHECK_FALSE(in_export_directory("figure.pdf").startsWith(assets));
  Window window(small);
  const QString path = QString::fromStdString(folder / "figure.svg");
  REQUIRE(window.export_to(path, {}));
  CHECK(QDir::cleanPath(in_export_directory("figure.pdf")) ==
        QDir::cleanPath(QString::fromStdString(folder / "figure.pdf")));
}

TEST_CASE("the learning dock does not ask to select what is selected") {
  Window window(small);
  show(window, {find_view("heatmap")}, {"exact", "h1d", "tf"});
  REQUIRE(window.settle());
  const auto* plot = window->findChild<QWidget*>("learning_plot");
  window.study().select_column(1);
  CHECK(wait_until([&] { return plot->accessibleDescription().startsWith("Select a column"); }));
  window.study().select_column(2);
  CHECK(wait_until([&] { return plot->accessibleDescription().startsWith("Press"); }));
}

}  // namespace fovea::test
