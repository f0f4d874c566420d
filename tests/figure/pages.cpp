// Pages as PDF.
#include "figure/pages.h"

#include <doctest/doctest.h>

#include <QPalette>

#include "figure/panels.h"

using namespace fovea;

TEST_CASE("a report on paper has the same colours whatever those of the program are") {
  auto& program = example::application();
  const Pages pages{
      .title = "A head",
      .blocks = {Heading{"Numbers"}, Paragraph{"A paragraph."}, Verbatim{"fovea"},
                 Facts{"Facts", {{"Mask", "causal"}}},
                 NumberTable{{"attention", "error"}, {{"Exact", "0"}}, "A caption."},
                 Illustration{example::alone(example::ranks(32, 8, "Exact"), 200), "A figure."}}};
  const QPalette before = QGuiApplication::palette();
  QPalette light = before, dark = before;
  light.setColor(QPalette::Text, Qt::black);
  dark.setColor(QPalette::Text, Qt::white);
  program.setPalette(light);
  const QByteArray in_light = pdf_of(pages);
  program.setPalette(dark);
  const QByteArray in_dark = pdf_of(pages);
  program.setPalette(before);
  CHECK(in_dark == in_light);
}
