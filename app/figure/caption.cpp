#include "figure/caption.h"

#include <algorithm>

#include "data/text.h"
#include "figure/latex_text.h"
#include "views/views.h"

namespace fovea {
namespace {

/// "Rows: Attention P; Mask. "
std::string words_of_rows(const Figure& figure) {
  std::string names;
  for (const auto& row : figure.rows)
    if (!row.empty() && row.front().view) add_item(names, label_of(row.front().view), "; ");
  if (names.empty()) return {};
  return (figure.rows.size() > 1 ? "Rows: " : "") + names + ". ";
}

/// "Columns: Exact (softmax, the reference); Window (width 32, error 0.7). "
std::string words_of_columns(const Figure& figure) {
  if (figure.rows.empty()) return {};
  std::string names;
  for (const Panel& panel : figure.rows.front()) {
    std::string words = panel.subtitle;
    if (const std::size_t dot = words.find(" · "); dot != words.npos)
      words.replace(dot, std::string(" · ").size(), ", ");
    add_item(names, panel.title + (words.empty() ? "" : " (" + words + ")"), "; ");
  }
  if (names.empty()) return {};
  return (figure.rows.front().size() > 1 ? "Columns: " : "") + names + ". ";
}

/// "Strips: output error |z~ - z|. "
std::string words_of_strips(const Figure& figure) {
  std::vector<std::string> quantities;
  for (const auto& row : figure.rows)
    for (const Panel& panel : row)
      if (const auto* raster = std::get_if<Raster>(&panel.body);
          raster && !raster->row_quantity.empty() &&
          std::ranges::find(quantities, raster->row_quantity) == quantities.end())
        quantities.push_back(raster->row_quantity);
  if (quantities.empty()) return {};
  return "Strips: " + join(quantities, {}, "; ") + ". ";
}

}  // namespace

std::string latex_caption(const Figure& figure) {
  std::string words = words_of_rows(figure) + words_of_columns(figure) + words_of_strips(figure);
  if (!figure.subject.empty()) words += "Head: " + figure.subject + ". ";
  words += words_of_marks(figure);
  while (words.ends_with(' ')) words.pop_back();
  const std::string latex = latex_text(words);
  const bool needs_definition = latex.find("\\foveachar") != latex.npos;
  return (needs_definition ? foveachar_definition : "") + latex;
}

}  // namespace fovea
