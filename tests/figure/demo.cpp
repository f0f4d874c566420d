// Writes what a person should look at:
// FOVEA_FIGURE_DEMO=folder test_figure --no-skip -tc="*to be looked at"
#include <doctest/doctest.h>

#include <cstdlib>

#include "figure/panels.h"

using namespace fovea;

TEST_CASE("example figures can be written to a folder to be looked at" * doctest::skip()) {
  example::application();
  const char* folder = std::getenv("FOVEA_FIGURE_DEMO");
  REQUIRE_MESSAGE(folder, "FOVEA_FIGURE_DEMO must name a folder");
  const std::string base = folder;
  Figure two = example::paper(504, 384);
  for (const char* ending : {".png", ".svg", ".pdf"}) write_figure(base + "/paper" + ending, two);
  two.style.dark = true;
  write_figure(base + "/dark.png", two);
  Figure one = example::paper(252, 128);
  write_figure(base + "/column.png", one);
  write_figure(base + "/column.pdf", one);
  Figure own = two;
  own.style.dark = false;
  own.style.settings.shared_range = false;
  write_figure(base + "/unlocked.png", own);
  Figure kinds;
  kinds.style.width = 504;
  std::vector<Panel> all = example::every_kind(256);
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (k % 4 == 0) kinds.rows.emplace_back();
    kinds.rows.back().push_back(all[k]);
  }
  write_figure(base + "/kinds.png", kinds);
  write_figure(base + "/kinds.svg", kinds);
}
