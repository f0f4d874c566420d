// The report of one head, as pages: what was loaded, all columns side by side, their numbers, and
// how to make them again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figure/pages.h"
#include "report/panel_grid.h"

namespace fovea {

struct HeadPagesRequest {
  const PanelGrid& grid;
  const Problem& problem;
  const Source& source;  // without a name if the report must not name it
  std::string path;  // of the source, as the report names it; empty if the report does not name it
  Index layer = 0, head = 0;
  const Backend& backend;
  const std::vector<Column>& columns;
  FigureStyle style;
  std::string content_hash;
  std::vector<std::string> notes;  // of the source
  Recipe recipe;                   // empty if the report must not name its source
};

/// Measures the columns and draws their panels.
Pages head_pages(const HeadPagesRequest& request, Run& run);

}  // namespace fovea
