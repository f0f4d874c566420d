// The pages of a report: what its figures share.
#include <doctest/doctest.h>

#include "backend/backends.h"
#include "data/synthetic.h"
#include "figure/layout.h"
#include "panels.h"
#include "report/head_pages.h"
#include "variants/schema.h"

using namespace fovea;

namespace {

/// The rows of the first figures of a report of these columns, as they are laid out.
std::vector<FigureLayout> first_figures(const ViewSettings& settings,
                                        const std::vector<Column>& columns) {
  const Source source = make_synthetic("synthetic:clusters?n=96&d=16&seed=2");
  const Problem problem = problem_of(source, {});
  const auto backend = make_cpu_backend();
  Profile profile;
  Run run{profile, {}};
  const PanelGrid grid({.problem = problem,
                        .source = source,
                        .layer = 0,
                        .backend = *backend,
                        .settings = settings,
                        .columns = columns,
                        .viewport = {},
                        .query = {}},
                       run);
  const Pages pages = head_pages({.grid = grid,
                                  .problem = problem,
                                  .source = source,
                                  .path = source.path,
                                  .backend = *backend,
                                  .columns = columns,
                                  .settings = settings,
                                  .times = std::vector<std::optional<MeasuredTime>>(columns.size()),
                                  .recipe = {}},
                                 run);
  std::vector<FigureLayout> figures;
  for (const Block& block : pages.blocks)
    if (const auto* shown = std::get_if<Illustration>(&block); shown && figures.size() < 2)
      figures.push_back(lay_out(shown->figure, PaperLettering(shown->figure.style)));
  return figures;
}

std::vector<Column> five_columns() {
  const auto of = [](const char* variant) {
    return Column{variant, values_for_length(find_variant(variant), 96), 0};
  };
  // Linear attention, which has the largest errors, is in the second figure.
  return {of("exact"), of("h1d"), of("window"), of("bigbird"), of("linear")};
}

}  // namespace

TEST_CASE("figures of a report share the ranges of weights and of errors") {
  example::application();
  for (const bool shared : {true, false}) {
    ViewSettings settings;
    settings.shared_range = shared;
    const auto figures = first_figures(settings, five_columns());
    REQUIRE(figures.size() == 2);
    for (const std::size_t view : {0, 1}) {
      const auto &first = figures[0].rows[view].cells[1].scale,
                 &second = figures[1].rows[view].cells[0].scale;
      REQUIRE((first && second));
      CHECK((first->high == second->high) == shared);
    }
  }
}

TEST_CASE("a range that was chosen for a column stays with it in the second figure of a report") {
  example::application();
  ViewSettings settings;
  settings.shared_range = false;
  settings.choose_range({find_view("heatmap"), 4, 0.25, 0.5});
  const auto figures = first_figures(settings, five_columns());
  for (const FigureLayout& figure : figures)
    for (std::size_t c = 0; c < figure.rows[0].cells.size(); ++c) {
      const bool chosen = &figure == &figures[1] && c == 0;
      CHECK((figure.rows[0].cells[c].scale->high == 0.5) == chosen);
    }
}
