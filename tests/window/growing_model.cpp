// A model whose layers come one by one, in the window.
#include <doctest/doctest.h>

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QStatusBar>
#include <QTableView>
#include <QTest>
#include <algorithm>

#include "model_elsewhere.h"
#include "views/views.h"
#include "window/harness.h"

namespace fovea::test {
namespace {

bool says_in_status_line(Window& window, const QString& words) {
  return wait_until([&] {
    return std::ranges::any_of(window->statusBar()->findChildren<QLabel*>(),
                               [&](QLabel* label) { return label->text().contains(words); });
  });
}

}  // namespace

TEST_CASE("layers of a model that are still to come have rows, and the status line counts them") {
  const ModelElsewhere model("waits");
  Window window(QString::fromStdString(model.address("one two three")));
  show(window, {find_view("heatmap")}, {"exact"});
  window->findChild<QCheckBox*>("all_layers")->setChecked(true);
  REQUIRE(window.settle());
  auto* gallery = window->findChild<QTableView*>("heads");
  REQUIRE(gallery);
  CHECK(window.study().source()->layers.size() == 1);
  CHECK(gallery->model()->rowCount() == 3);
  CHECK(gallery->model()->columnCount() == 2);
  CHECK(says_in_status_line(window, "layer 1 of 3"));
  const int side = gallery->rowHeight(0);
  int resets = 0;
  QObject::connect(gallery->model(), &QAbstractItemModel::modelReset, gallery, [&] { ++resets; });
  const auto is_enabled = [&](int row) {
    return gallery->model()->flags(gallery->model()->index(row, 1)).testFlag(Qt::ItemIsEnabled);
  };
  CHECK(is_enabled(0));
  CHECK_FALSE(is_enabled(1));
  CHECK(gallery->model()->headerData(2, Qt::Vertical) == "2");
  model.let(1);
  REQUIRE(wait_until([&] { return is_enabled(1); }));
  CHECK(resets == 0);
  window->findChild<QCheckBox*>("all_layers")->setChecked(false);
  resets = 0;
  model.let(2);
  REQUIRE(wait_until([&] { return window.study().source()->layers.size() == 3; }));
  CHECK(resets == 0);
  window->findChild<QCheckBox*>("all_layers")->setChecked(true);
  resets = 0;
  REQUIRE(wait_until([&] { return !window.study().growing(); }));
  CHECK(gallery->model()->rowCount() == 3);
  CHECK(gallery->rowHeight(0) == side);
  CHECK(resets == 0);
  window->editor().choose_head(2, 1);
  REQUIRE(window.settle());
  CHECK(window.study().problem()->head == 1);
  CHECK(window->info_bar().message().isEmpty());
}

TEST_CASE("a model with a decoder has a field for its text, which the model is given") {
  const ModelElsewhere model("decodes");
  Window window(QString::fromStdString(model.address("one two")));
  REQUIRE(wait_until([&] { return !window.study().growing(); }));
  auto* field = window->findChild<QLineEdit*>("decoder_text");
  auto* text = window->findChild<QPlainTextEdit*>("model_text");
  REQUIRE(field);
  CHECK(field->isVisibleTo(&*window));
  CHECK(field->text().isEmpty());
  const auto reads = [&](const ModelAddress& address) {
    return wait_until([&] {
      return window.study().session().source == to_text(address) && !window.study().opening();
    });
  };
  ModelAddress address{.folder = model.folder(), .text = "one two"};
  QTest::keyClicks(field, "three four");
  address.decoder_text = "three four";
  REQUIRE(reads(address));
  REQUIRE(window.settle());
  CHECK(window.study().problem()->q(0, 0) == 2);  // two words: as fake_model.py has it
  text->setPlainText("five");                     // both fields, of which none was read yet
  QTest::keyClick(field, Qt::Key_Backspace);
  address.text = "five";
  address.decoder_text = "three fou";
  REQUIRE(reads(address));
  window.trigger("undo");
  window.trigger("undo");
  address.decoder_text.reset();
  address.text = "one two";
  REQUIRE(wait_until([&] { return field->text().isEmpty(); }));
  CHECK(text->toPlainText() == "one two");
  window->open("synthetic:golden");
  REQUIRE(wait_until([&] { return !window.study().opening(); }));
  CHECK_FALSE(field->isVisibleTo(&*window));
}

}  // namespace fovea::test
