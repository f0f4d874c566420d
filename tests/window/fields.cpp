// Fields and sliders: what a press, the wheel, a key and undo do in them.
#include <doctest/doctest.h>

#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QScrollArea>
#include <QSlider>
#include <QWheelEvent>
#include <cmath>

#include "io/safetensors_writer.h"
#include "temporary_directory.h"
#include "variants/described_variant.h"
#include "window/docks/parameter_form.h"
#include "window/pointer.h"
#include "window/setting_fields.h"
#include "window/widgets/field_editor.h"

namespace fovea::test {

TEST_CASE("undo works from a field, which keeps its own only while something is typed") {
  Window window(small);
  window.study().select_column(column_of(window, "h1d"));
  REQUIRE(window.settle());
  take_focus(window);
  auto* box = window->findChild<QDockWidget*>("Column")->findChild<QDoubleSpinBox*>();
  REQUIRE(box);
  const Session before = window.study().session();
  const double value = box->value();
  box->setFocus();
  REQUIRE(wait_until([&] { return box->hasFocus(); }));
  box->selectAll();
  QTest::keyClicks(box, value == 8 ? "4" : "8");
  CHECK(window.study().session() == before);
  QTest::keyClick(box, Qt::Key_Z, Qt::ControlModifier);  // the typing
  CHECK(window.study().session() == before);
  box->selectAll();
  QTest::keyClicks(box, value == 8 ? "4" : "8");
  QTest::keyClick(box, Qt::Key_Return);
  CHECK(window.study().session() != before);
  QTest::keyClick(box, Qt::Key_Z, Qt::ControlModifier);
  CHECK(window.study().session() == before);
  CHECK(box->value() == value);
  CHECK(box->hasFocus());
}

TEST_CASE("a field without the focus leaves the wheel to the page, and changes no value") {
  Window window(small, {1280, 720});
  auto* area = window->findChild<QDockWidget*>("Column")->findChild<QScrollArea*>("dock_scroll");
  const Session before = window.study().session();
  const auto turn_over = [](QWidget& field) {
    const QPointF middle = field.rect().center();
    QWheelEvent wheel(middle, field.mapToGlobal(middle), {}, {0, -120}, {}, {}, Qt::NoScrollPhase,
                      false);
    QApplication::sendEvent(&field, &wheel);
    return wheel.isAccepted();
  };
  int fields = 0;
  const auto try_all = [&](const auto& found) {
    for (QWidget* field : found) {
      if (!field->isVisible()) continue;
      CAPTURE(field->objectName().toStdString());
      ++fields;
      CHECK(field->focusPolicy() != Qt::WheelFocus);
      CHECK_FALSE(turn_over(*field));
    }
  };
  try_all(area->findChildren<QAbstractSpinBox*>());
  try_all(area->findChildren<QComboBox*>());
  CHECK(fields > 2);
  CHECK(window.study().session() == before);
}

TEST_CASE("all of a slider can be grabbed, wheel and arrows step, a double click resets") {
  Window window(small);
  const GeneralFields fields = general_fields(window.study(), window->editor());
  QWidget* field = fields.floor->make_widget();
  field->setParent(&*window);
  field->setGeometry(300, 300, 200, 30);
  field->show();
  auto* slider = field->findChild<QSlider*>();
  const auto floor = [&] { return window.study().session().settings.log_floor; };
  const int right = slider->width() - 2, middle = slider->height() / 2;
  QTest::mousePress(slider, Qt::LeftButton, {}, {right, 1});
  CHECK(slider->value() == slider->maximum());
  QTest::mouseMove(slider, {1, middle});
  CHECK(slider->value() == slider->minimum());
  QTest::mouseMove(slider, {slider->width() / 2, middle});
  QTest::mouseRelease(slider, Qt::LeftButton, {}, {slider->width() / 2, middle});
  CHECK(std::abs(slider->value() - (slider->minimum() + slider->maximum()) / 2) <= 3);
  CHECK(floor() == doctest::Approx(std::pow(10.0, slider->value() / 10.0)));
  const int value = slider->value();
  const auto turn = [&](int angle) {
    QWheelEvent event({5, 5}, slider->mapToGlobal(QPointF(5, 5)), {}, {0, angle}, Qt::NoButton, {},
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(slider, &event);
  };
  take_focus(window);  // of the canvas
  turn(120);           // scrolls what it is in
  CHECK(slider->value() == value);
  slider->setFocus();
  REQUIRE(wait_until([&] { return slider->hasFocus(); }));
  turn(120);
  CHECK(slider->value() == value + 1);
  turn(-60);
  turn(-60);
  CHECK(slider->value() == value);
  QTest::keyClick(slider, Qt::Key_Right);
  CHECK(slider->value() == value + 1);
  QTest::mouseDClick(slider, Qt::LeftButton, {}, {3, middle});
  CHECK(floor() == ViewSettings{}.log_floor);
  // A parameter's: the usual value at the head's length.
  const int column = column_of(window, "h1d");
  window.study().select_column(column);
  REQUIRE(window.settle());
  auto* block = window->findChild<QDockWidget*>("Column")->findChild<QSlider*>();
  REQUIRE(block);
  const auto values = [&] { return window.study().session().columns[std::size_t(column)].values; };
  const Values usual = values();
  block->setValue(block->maximum());
  CHECK(values() != usual);
  QTest::mouseDClick(block, Qt::LeftButton, {}, {3, 3});
  CHECK(values() == usual);
}

TEST_CASE("parameters that the gates of a head replace are not offered") {
  const TemporaryDirectory folder;
  std::vector<OutTensor> tensors;
  for (const char* name : {"q", "k", "v"}) {
    std::vector<float> numbers(24 * 4);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = float(i % 7) / 7;
    tensors.push_back({name, {1, 24, 4}, std::move(numbers)});
  }
  tensors.push_back({"log_decay", {1, 24}, std::vector<float>(24, -0.1f)});
  const std::string file = folder / "linear.safetensors";
  write_safetensors(file, tensors, {{"recurrence", "linear"}});
  Window window(QString::fromStdString(file));
  REQUIRE(window.settle());
  for (const char* id : {"delta", "ssd", "loglinear"}) {
    CAPTURE(id);
    window->editor().change("columns", [&](Session& session) {
      const Variant& variant = find_variant(id);
      session.columns = {{.variant = "exact", .values = {}},
                         {.variant = id, .values = values_for_length(variant, 24)}};
    });
    window.study().select_column(1);
    REQUIRE(window.settle());
    auto* form = window->findChild<QDockWidget*>("Column")->findChild<ParameterForm*>();
    int offered = 0;
    for (const FieldEditor* field : form->findChildren<FieldEditor*>())
      offered += field->isVisibleTo(form);
    // The delta rule of a head without one may take other vectors, and levels without weights of
    // the head fall off.
    CHECK(offered == (std::string(id) == "ssd" ? 0 : 1));
    CHECK(form->findChild<QLabel*>("parameters_of_head")->isVisibleTo(form));
  }
}

}  // namespace fovea::test
