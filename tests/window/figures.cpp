// What an exported figure takes from the canvas.
#include <QFile>
#include <QTemporaryDir>

#include "figure/figure.h"
#include "window/pointer.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("an exported figure names the tokens and has the output errors beside error maps") {
  Window window(assets + "/text/fovea.txt");
  show(window, {View::error});
  const auto compared = [&] {
    return std::ranges::all_of(window.study().columns(), [](const ColumnState& c) {
      return c.metrics || is_reference(c.column.variant);
    });
  };
  REQUIRE(wait_until(compared));
  const auto& tokens = window.study().source()->sequence.tokens;
  QTemporaryDir folder;
  const QString path = folder.filePath("f.svg");
  FigureStyle style;
  // Wide enough that every token has room for its name.
  style.width = 10.0 * std::ssize(tokens) * std::ssize(window.study().columns());
  style.dpi = 10;
  REQUIRE(window.export_to(path, style));
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadOnly));
  const QString svg = QString::fromUtf8(file.readAll());
  for (const char* name : {">sees<", ">the<"}) CHECK(svg.contains(name));
  CHECK(svg.contains("strip: output error |z̃ − z|, at most "));
}
