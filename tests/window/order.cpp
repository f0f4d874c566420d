// Compute > Order of tokens: what the dialog asks, and what the window then shows.
#include <doctest/doctest.h>

#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QPushButton>
#include <QTimer>

#include "io/safetensors_writer.h"
#include "temporary_directory.h"
#include "window/harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Answers the question, which begins with `first`, with a choice, by its place, or cancels it.
void choose_order(Window& window, int first, int choice, bool cancel = false) {
  bool asked = false;
  QTimer::singleShot(50, &*window, [&] {
    auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
    REQUIRE(dialog);
    asked = dialog->objectName() == "order_dialog";
    CHECK(dialog->findChild<QComboBox*>("order")->currentIndex() == first);
    dialog->findChild<QComboBox*>("order")->setCurrentIndex(choice);
    const auto button = cancel ? QDialogButtonBox::Cancel : QDialogButtonBox::Ok;
    dialog->findChild<QDialogButtonBox*>()->button(button)->click();
  });
  window.trigger("order");
  REQUIRE(asked);
  REQUIRE(wait_until([&] { return !window.study().opening(); }));
  REQUIRE(window.settle());
}

}  // namespace

TEST_CASE("the order of tokens is chosen, undone, and compared with that of a head that is kept") {
  Window window("synthetic:clusters?n=144&d=16&seed=1");
  const std::string plain = window.study().session().source;
  const std::size_t columns = window.study().session().columns.size();
  const std::vector<float> row(window.study().problem()->k.row(0),
                               window.study().problem()->k.row(0) + 16);
  choose_order(window, 0, 1, true);
  CHECK(window.study().session().source == plain);
  window.trigger("hold");
  choose_order(window, 0, 1);
  const std::string ordered = window.study().session().source;
  CHECK(ordered == "ordered:hilbert:" + plain);
  CHECK(window.study().session().columns.size() == columns);
  CHECK(window.study().source()->order ==
        "tokens along a Hilbert curve through a frame of 12 × 12 tokens");
  // The first cell is where the curve begins, the others have moved.
  CHECK(std::equal(row.begin(), row.end(), window.study().problem()->k.row(0)));
  bool held = false;
  for (const Column& column : window.study().session().columns)
    held |= column.held && column.held->source == plain;
  CHECK(held);
  // The dialog begins with what is shown, and goes back.
  choose_order(window, 1, 2);
  CHECK(window.study().session().source == "ordered:tiles:" + plain);
  choose_order(window, 2, 0);
  CHECK(window.study().session().source == plain);
  window.trigger("undo");
  REQUIRE(wait_until([&] { return !window.study().opening(); }));
  CHECK(window.study().session().source == "ordered:tiles:" + plain);
}

TEST_CASE("an order of tokens that a head cannot have is refused, and the head stays") {
  const TemporaryDirectory folder;
  std::vector<OutTensor> tensors;
  for (const char* name : {"q", "k", "v"})
    tensors.push_back({name, {16, 4}, std::vector<float>(64, 1)});
  write_safetensors(folder / "causal.safetensors", tensors, {{"causal", "true"}});
  Window window(QString::fromStdString(folder / "causal.safetensors"));
  const std::string before = window.study().session().source;
  choose_order(window, 0, 1);
  CHECK(window.study().session().source == before);
  CHECK(window->info_bar().message().contains("has a causal mask"));
}
