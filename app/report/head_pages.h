// The report of one head, as pages: what was loaded, all columns side by side, their numbers, and
// how to make them again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figure/pages.h"
#include "report/panel_grid.h"

namespace fovea {

inline constexpr Index report_pixels = 512;  // a side of a panel: enough for 4 cm at 300 dpi

/// The columns of a report: exact attention first, and then the others in their order.
std::vector<Column> with_exact_first(std::vector<Column> columns);

struct HeadPagesRequest {
  const PanelGrid& grid;
  const Problem& problem;
  const Source& source;  // without a name if the report must not name it
  std::string path;  // of the source, as the report names it; empty if the report does not name it
  Index layer = 0, head = 0;
  const Backend& backend;
  const std::vector<Column>& columns;
  const ViewSettings& settings;
  std::string content_hash;
  /// Those that the window has measured already, one for each column; else they are measured here.
  std::vector<std::optional<MeasuredTime>> times = {};
  std::vector<std::string> notes;  // of the source
  Recipe recipe;                   // empty if the report must not name its source
};

/// Measures the columns and draws their panels.
Pages head_pages(const HeadPagesRequest& request, Run& run);

}  // namespace fovea
