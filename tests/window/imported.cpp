// Results of other programs in the window.
#include <doctest/doctest.h>

#include <QTableWidget>
#include <QTemporaryDir>

#include "io/safetensors_writer.h"
#include "window/harness.h"

namespace fovea::test {

TEST_CASE("results of another program are a column, without times") {
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
}

}  // namespace fovea::test
