// What a newcomer finds: settings where they belong, a tour, a glossary, words for a screen reader.
#include <doctest/doctest.h>

#include <QAction>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTextBrowser>
#include <algorithm>

#include "views/views.h"
#include "window/dialogs/glossary_dialog.h"
#include "window/harness.h"
#include "window/parameter_popup.h"
#include "window/row_settings.h"
#include "window/tour.h"

namespace fovea::test {

TEST_CASE("a click on a row's title opens its settings, from which the row is moved and removed") {
  Window window(small);
  const auto views = [&] { return window.study().session().views; };
  RowSettings& settings = window.row_settings(find_view("mask"));
  REQUIRE(settings.isVisible());
  CHECK(settings.findChild<QWidget*>("view_Tiles"));
  CHECK_FALSE(settings.findChild<QWidget*>("view_ε"));
  const auto press = [&](const QString& text) {
    for (auto* button : settings.findChildren<QPushButton*>())
      if (button->text() == text) button->click();
  };
  press("Move &up");
  CHECK_FALSE(settings.isVisible());
  CHECK(views()[1] == find_view("mask"));
  window.row_settings(find_view("mask"));
  press("Re&move row");
  CHECK(std::ranges::count(views(), find_view("mask")) == 0);
  CHECK(views().size() == 3);
  auto* other = window.row_settings(find_view("rank")).findChild<QComboBox*>("row_view");
  const auto all = all_views();
  emit other->activated(int(std::ranges::find(all, find_view("tree")) - all.begin()));
  CHECK(views().back() == find_view("tree"));
  emit window->canvas().row_settings_requested(0, {10, 10});
  CHECK(settings.isVisible());
  window.shoot("row settings");
}

TEST_CASE("a tour goes through the window in six bubbles, and is left at any of them") {
  Window window(small, {1280, 720});
  Tour& tour = window->tour();
  CHECK_FALSE(tour.isVisible());
  window.trigger("tour");
  const auto press = [&](const QString& text) {
    for (auto* button : tour.findChildren<QPushButton*>())
      if (button->text() == text) button->click();
  };
  for (int stop = 0; stop < Tour::stops(); ++stop) {
    CHECK(tour.stop() == stop);
    CHECK(tour.isVisible());
    CHECK(window->rect().contains(tour.geometry()));
    for (const auto* label : tour.findChildren<QLabel*>())
      CHECK(wait_until([&] { return label->height() >= label->heightForWidth(label->width()); }));
    window.shoot(QString("tour %1").arg(stop + 1));
    press(stop + 1 == Tour::stops() ? "&Done" : "&Next");
  }
  CHECK_FALSE(tour.isVisible());
  window.trigger("tour");
  press("&Next");
  press("&Back");
  CHECK(tour.stop() == 0);
  window.trigger("cancel");  // Esc
  CHECK_FALSE(tour.isVisible());
  tour.start_once();  // it was seen
  CHECK_FALSE(tour.isVisible());
}

TEST_CASE("the glossary explains every view and every variant, and finds words") {
  GlossaryDialog glossary(nullptr);
  const auto text = [&] {
    return glossary.findChild<QTextBrowser*>("glossary_text")->toPlainText();
  };
  for (const View view : all_views()) {
    CAPTURE(view->id);
    CHECK(view->meaning.ends_with('.'));
    CHECK(text().contains(QString::fromStdString(view->meaning)));
  }
  for (const Variant& variant : variants())
    CHECK(text().contains(QString::fromStdString(variant.label)));
  glossary.findChild<QLineEdit*>("glossary_search")->setText("bootstrapping");
  CHECK(text().contains("short trees"));
  CHECK_FALSE(text().contains("HyperAttention"));
  glossary.findChild<QLineEdit*>("glossary_search")->setText("xyzzy");
  CHECK(text() == "Nothing here has these words.");
}

TEST_CASE("a screen reader hears the selected column's numbers and the pair at the crosshair") {
  Window window(small);
  const int column = column_of(window, "h1d");
  window.study().select_column(column);
  const auto said = [&] { return window->canvas().accessibleDescription(); };
  REQUIRE(wait_until([&] { return said().contains("relative output error"); }));
  CHECK(said().startsWith("H-Transformer-1D, column 2 of 7: "));
  CHECK(said().contains("% of exact attention's."));
  window->canvas().setFocus();
  window.study().hover(7, 9, column);
  CHECK(wait_until([&] { return said().contains("Query 7"); }));
  CHECK(said().contains("key 9"));
  window.study().hover(-1, -1, -1);
  CHECK(wait_until([&] { return !said().contains("Query"); }));
}

TEST_CASE("parameters are edited where they stand in a title") {
  Window window(small);
  const int column = column_of(window, "h1d");
  emit window->canvas().parameters_requested(column, {300, 60});
  ParameterPopup& popup = window->parameter_popup();
  REQUIRE(popup.isVisible());
  CHECK(window.study().selected_column() == column);
  const Values before = window.study().session().columns[std::size_t(column)].values;
  auto* number = popup.findChild<QDoubleSpinBox*>();
  REQUIRE(number);
  number->setValue(4);
  const auto values = [&] { return window.study().session().columns[std::size_t(column)].values; };
  CHECK(values() != before);
  window.shoot("parameters in place");
  popup.close();
  window.trigger("undo");
  CHECK(values() == before);
}

}  // namespace fovea::test
