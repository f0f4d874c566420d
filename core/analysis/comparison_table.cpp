#include "analysis/comparison_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace fovea {
namespace {

bool is_better(const Measure& measure, double a, double b) {
  return measure.better == Measure::Better::more ? a > b : a < b;
}

/// Marks the best of each head.
void mark_best(ComparisonTable::Row& row, const std::vector<Evaluation>& evaluations) {
  if (row.measure->better == Measure::Better::neither) return;
  const auto is_known = [&](std::size_t c) {
    return !row.cells[c].text.empty() && !std::isnan(row.cells[c].value);
  };
  for (std::size_t c = 0; c < row.cells.size(); ++c) {
    if (!is_known(c)) continue;
    bool best = true, differs = false;
    for (std::size_t other = 0; other < row.cells.size(); ++other) {
      if (!is_known(other) || evaluations[other].head != evaluations[c].head) continue;
      differs = differs || row.cells[other].value != row.cells[c].value;
      best = best && !is_better(*row.measure, row.cells[other].value, row.cells[c].value);
    }
    row.cells[c].best = best && differs && !row.cells[c].undecided;
  }
}

}  // namespace

ComparisonTable comparison_table(std::vector<std::string> titles,
                                 const std::vector<Evaluation>& evaluations) {
  ComparisonTable table{.titles = std::move(titles), .rows = {}};
  for (const Measure& measure : measures()) {
    ComparisonTable::Row row{&measure, {}};
    for (const Evaluation& evaluation : evaluations) {
      auto& cell = row.cells.emplace_back();
      const auto measured = measure.of(evaluation);
      if (!measured) continue;
      cell.text = to_text(measure, *measured);
      cell.value = measured->value;
      if (measured->ratio) cell.basis = basis_text(*measured->ratio);
      cell.undecided = measured->ratio && measured->ratio->undecided();
    }
    if (std::ranges::all_of(row.cells, [](const auto& cell) { return cell.text.empty(); }))
      continue;
    mark_best(row, evaluations);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::size_t> order_by(const ComparisonTable& table, std::size_t row) {
  const ComparisonTable::Row& by = table.rows[row];
  std::vector<std::size_t> order(table.titles.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const auto &x = by.cells[a], &y = by.cells[b];
    const auto absent = [](const auto& cell) {
      return cell.text.empty() || std::isnan(cell.value);
    };
    if (absent(x) || absent(y)) return !absent(x) && absent(y);
    return is_better(*by.measure, x.value, y.value);
  });
  return order;
}

std::string to_text(const ComparisonTable& table, TableFormat format) {
  MarkedTable out{.corner = {}, .titles = table.titles, .rows = {}};
  bool ratios = false;
  for (const ComparisonTable::Row& row : table.rows) {
    auto& cells = out.rows.emplace_back(MarkedTable::Row{row.measure->label, {}}).cells;
    for (const ComparisonTable::Cell& cell : row.cells) {
      cells.push_back({cell.text, cell.best});
      ratios |= !cell.basis.empty();
    }
  }
  if (ratios) out.foot = speed_ups_note;
  return to_text(out, format);
}

}  // namespace fovea
