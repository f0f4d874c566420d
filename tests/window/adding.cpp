// The dialog for adding columns: groups, filter, pictures, keys and mouse.
#include <doctest/doctest.h>

#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>

#include "study/lost_result.h"
#include "views/views.h"
#include "window/dialogs/add_column_dialog.h"
#include "window/pointer.h"
#include "window/widgets/text.h"

namespace fovea::test {
namespace {

AddColumnDialog& opened(Window& window) {
  window.trigger("add_columns");
  REQUIRE(window->add_columns());
  REQUIRE(window->add_columns()->isVisible());
  return *window->add_columns();
}

QListWidget& list_of(const AddColumnDialog& dialog) {
  return *dialog.findChild<QListWidget*>("variants");
}

QStringList shown_names(const AddColumnDialog& dialog) {
  QStringList names;
  const QListWidget& list = list_of(dialog);
  for (int row = 0; row < list.count(); ++row)
    if (!list.item(row)->isHidden()) names << list.item(row)->text();
  return names;
}

void type(const AddColumnDialog& dialog, const QString& words) {
  dialog.findChild<QLineEdit*>("variant_words")->setText(words);
}

std::vector<std::string> columns_of(Window& window) {
  std::vector<std::string> ids;
  for (const Column& column : window.study().session().columns) ids.push_back(column.variant);
  return ids;
}

}  // namespace

TEST_CASE("all variants can be chosen in groups, and words narrow the choice") {
  Window window("synthetic:clusters?n=64&d=8&seed=1");
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  REQUIRE(window.settle());
  AddColumnDialog& dialog = opened(window);
  const auto headings = static_cast<qsizetype>(groups().size());
  CHECK(shown_names(dialog).size() == std::ssize(variants()) + headings + 1);
  // Exact attention is none of those that stand for it.
  CHECK(shown_names(dialog)[1] == "Exact");
  CHECK(shown_names(dialog).count("Exact") == 1);
  for (const Variant& variant : variants()) {
    const auto items = list_of(dialog).findItems(to_qt(variant.label), Qt::MatchExactly);
    CHECK(std::ranges::count_if(items, [&](const QListWidgetItem* item) {
            return item->data(Qt::AccessibleTextRole).toString() ==
                   to_qt(variant.label + ". " + variant.summary);
          }) == 1);
  }
  REQUIRE(wait_until([&] {
    return std::ranges::all_of(variants(), [&](const Variant& v) { return dialog.card(v); });
  }));
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    CHECK(dialog.card(variant)->refused.empty() == variant.has_bidirectional_form());
  }

  type(dialog, "WINDOW beltagy");
  CHECK(shown_names(dialog) == QStringList{"Baselines", "Window", "Longformer"});
  type(dialog, "nothing has this word");
  CHECK(shown_names(dialog).isEmpty());
  CHECK_FALSE(dialog.findChild<QPushButton*>("add")->isEnabled());
}

TEST_CASE("variants get their pictures in a window in which nothing else happens") {
  Window window("synthetic:clusters?n=64&d=8&seed=1");
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  const QSignalBlocker quiet(window.study());
  window.trigger("add_columns");
  CHECK(window.study().requests().is_pending({RequestKind::thumbnail}));
}

TEST_CASE("every variant gets its picture, also where results are lost") {
  Window window("synthetic:clusters?n=64&d=8&seed=1");
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  AddColumnDialog& dialog = opened(window);
  const auto is_complete = [&] {
    return std::ranges::all_of(variants(), [&](const Variant& v) { return dialog.card(v); });
  };
  constexpr RequestKind picture = RequestKind::thumbnail;
  for (int lost = 0; lost < 3; ++lost) {
    REQUIRE(wait_until([&] { return window.study().requests().is_pending({picture}); }));
    REQUIRE(lose_result(window.study(), picture));
  }
  CHECK_FALSE(is_complete());
  CHECK(wait_until(is_complete));
}

TEST_CASE("arrows choose while one types, and Enter adds the column") {
  Window window("synthetic:clusters?n=64&d=8&seed=1");
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  REQUIRE(window.settle());
  AddColumnDialog& dialog = opened(window);
  type(dialog, "beltagy");
  auto* words = dialog.findChild<QLineEdit*>("variant_words");
  QTest::keyClick(words, Qt::Key_Down);
  QTest::keyClick(words, Qt::Key_Return);
  CHECK_FALSE(dialog.isVisible());
  CHECK(columns_of(window) == std::vector<std::string>{"exact", "h1d", "longformer"});
  CHECK(window.study().selected_column() == 2);
  REQUIRE(window.settle());
  CHECK(window.study().columns()[2].computation);

  // Several at once are one step of undo, and a variant may be added twice.
  opened(window);
  for (const QString& name : {QString("H-Transformer-1D"), QString("Performer")})
    for (QListWidgetItem* item : list_of(dialog).findItems(name, Qt::MatchExactly))
      item->setSelected(true);
  list_of(dialog).item(1)->setSelected(false);
  CHECK(dialog.findChild<QPushButton*>("add")->text().contains("2 columns"));
  dialog.findChild<QPushButton*>("add")->click();
  CHECK(columns_of(window) ==
        std::vector<std::string>{"exact", "h1d", "longformer", "h1d", "performer"});
  window->editor().undo();
  CHECK(columns_of(window) == std::vector<std::string>{"exact", "h1d", "longformer"});
}

TEST_CASE("what has no causal form cannot be added to a causal head, and says why") {
  Window window("synthetic:clusters?n=64&d=8&seed=1");
  show(window, {find_view("heatmap")}, {"exact"});
  window->change("causal", [](Session& session) { session.conditions.causal = true; });
  REQUIRE(window.settle());
  AddColumnDialog& dialog = opened(window);
  const Variant& linformer = find_variant("linformer");
  REQUIRE(wait_until([&] { return dialog.card(linformer); }));
  CHECK(dialog.card(linformer)->refused.find("no causal form") != std::string::npos);
  auto* item = list_of(dialog).findItems("Linformer", Qt::MatchExactly).front();
  CHECK_FALSE(item->flags().testFlag(Qt::ItemIsEnabled));
  dialog.close();

  // Without the mask it can.
  window->change("causal", [](Session& session) { session.conditions.causal = false; });
  REQUIRE(window.settle());
  opened(window);
  REQUIRE(wait_until([&] { return dialog.card(linformer); }));
  CHECK(dialog.card(linformer)->refused.empty());
  CHECK(item->flags().testFlag(Qt::ItemIsEnabled));
}

}  // namespace fovea::test
