// Results of other programs in the window.
#include <doctest/doctest.h>

#include <QLabel>
#include <QTableWidget>
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>

#include "io/safetensors_writer.h"
#include "window/harness.h"

namespace fovea::test {

TEST_CASE(
    "results of another program are a column beside exact, selected at first, without times") {
  const QTemporaryDir folder;
  const QString path = folder.filePath("run.safetensors");
  const std::vector<float> numbers(48 * 8, 0.5f);
  std::vector<OutTensor> tensors;
  for (const char* name : {"q", "k", "v", "z"}) tensors.push_back({name, {1, 48, 8}, numbers});
  write_safetensors(path.toStdString(), tensors, {});
  Window window(path);
  REQUIRE(window.settle());
  const auto* table = window->findChild<QTableWidget*>("timing");
  REQUIRE(table);
  const auto& columns = window.study().session().columns;
  int imported = 0;
  for (int row = 0; row < table->rowCount(); ++row) {
    const bool its = columns[static_cast<std::size_t>(row)].variant == "imported";
    imported += its;
    const auto* bar = table->item(row, 1);
    const auto* total = table->item(row, 2);
    CHECK((bar && bar->text().startsWith("read from the file")) == its);
    CHECK((total == nullptr || total->text().isEmpty()) == its);
  }
  CHECK(imported == 1);
  CHECK(columns[1].variant == "imported");
  CHECK(window.study().selected_column() == 1);
}

TEST_CASE("kept pairs without z and p are a column that is computed, and says what it left out") {
  const QTemporaryDir folder;
  const QString path = folder.filePath("run.safetensors");
  std::vector<float> numbers;
  for (int i = 0; i < 48 * 8; ++i) numbers.push_back(std::sin(float(i * i % 97)));
  std::vector<OutTensor> tensors;
  for (const char* name : {"q", "k", "v"}) tensors.push_back({name, {1, 48, 8}, numbers});
  tensors.push_back({"kept", {48, 48}, std::vector<float>(48 * 48, 1.0f)});
  write_safetensors(path.toStdString(), tensors, {{"causal", "true"}});
  Window window(path);
  REQUIRE(window.settle());
  const auto& columns = window.study().session().columns;
  const auto at = std::ranges::find(columns, "imported", &Column::variant);
  REQUIRE(at != columns.end());
  const int column = int(at - columns.begin());
  const ColumnState& state = window.study().columns()[std::size_t(column)];
  REQUIRE(state.metrics);
  CHECK(state.error.empty());
  CHECK(state.metrics->output_rel_fro < 1e-6);
  window.study().select_column(column);
  REQUIRE(window.settle());
  const auto* warnings = window->findChild<QLabel*>("column_warnings");
  REQUIRE(warnings);
  CHECK(warnings->text().contains("1128 kept pairs lie in the future: left out"));
  CHECK_FALSE(warnings->text().contains("need not sum to 1"));
  const auto* table = window->findChild<QTableWidget*>("timing");
  REQUIRE(table);
  CHECK_FALSE(table->item(column, 1)->text().startsWith("read from the file"));
}

TEST_CASE("only a result with weights of its own is said to have any") {
  const QTemporaryDir folder;
  const std::vector<float> numbers(48 * 8, 0.5f);
  for (const bool has_weights : {false, true}) {
    std::vector<OutTensor> tensors;
    for (const char* name : {"q", "k", "v", "z"}) tensors.push_back({name, {1, 48, 8}, numbers});
    if (has_weights) tensors.push_back({"p", {1, 48, 48}, std::vector<float>(48 * 48, 1.0f / 48)});
    const QString path = folder.filePath(has_weights ? "p.safetensors" : "z.safetensors");
    write_safetensors(path.toStdString(), tensors, {});
    Window window(path);
    REQUIRE(window.settle());
    const auto* warnings = window->findChild<QLabel*>("column_warnings");
    REQUIRE(warnings);
    CHECK(warnings->text().contains("Entries of P may be negative") == has_weights);
    CHECK(warnings->text().contains("need not sum to 1") == has_weights);
    // There is nothing to time.
    const auto labels = window->findChildren<QLabel*>();
    const auto says = [&](const char* words) {
      return std::ranges::any_of(
          labels, [&](const QLabel* label) { return label->text().contains(words); });
    };
    CHECK(says("not computed here"));
    CHECK_FALSE(says("press F5"));
  }
}

TEST_CASE("the column says what its output equals in place of its own mask") {
  const QTemporaryDir folder;
  const QString path = folder.filePath("run.safetensors");
  std::vector<float> zeros(48 * 8), kept(48 * 48), ones(48 * 8, 1.0f);
  for (std::size_t i = 0; i < 48; ++i) kept[48 * i] = 1;
  std::vector<float> values = ones;
  for (std::size_t j = 0; j < 24 * 8; ++j) values[j] = -1;  // their mean is 0
  const std::vector<OutTensor> tensors{{"q", {1, 48, 8}, zeros},
                                       {"k", {1, 48, 8}, zeros},
                                       {"v", {1, 48, 8}, values},
                                       {"z", {1, 48, 8}, zeros},
                                       {"kept", {48, 48}, kept}};
  write_safetensors(path.toStdString(), tensors, {{"causal", "false"}});
  Window window(path);
  REQUIRE(window.settle());
  const auto& columns = window.study().session().columns;
  const auto at = std::ranges::find(columns, "imported", &Column::variant);
  REQUIRE(at != columns.end());
  window.study().select_column(int(at - columns.begin()));
  REQUIRE(window.settle());
  const auto* warnings = window->findChild<QLabel*>("column_warnings");
  REQUIRE(warnings);
  CHECK(warnings->text().contains(
      "z is not what the kept pairs give, in all 48 rows; it equals exact attention over all "
      "pairs"));
}

}  // namespace fovea::test
