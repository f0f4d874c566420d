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

void mark_best(ComparisonTable::Row& row) {
  if (row.measure->better == Measure::Better::neither) return;
  const ComparisonTable::Cell* best = nullptr;
  bool differ = false;
  for (const auto& cell : row.cells) {
    if (cell.text.empty() || std::isnan(cell.value)) continue;
    differ = differ || (best && cell.value != best->value);
    if (!best || is_better(*row.measure, cell.value, best->value)) best = &cell;
  }
  if (!differ) return;
  const double value = best->value;
  for (auto& cell : row.cells) cell.best = !cell.text.empty() && cell.value == value;
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
    }
    if (std::ranges::all_of(row.cells, [](const auto& cell) { return cell.text.empty(); }))
      continue;
    mark_best(row);
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
  for (const ComparisonTable::Row& row : table.rows) {
    auto& cells = out.rows.emplace_back(MarkedTable::Row{row.measure->label, {}}).cells;
    for (const ComparisonTable::Cell& cell : row.cells) cells.push_back({cell.text, cell.best});
  }
  return to_text(out, format);
}

}  // namespace fovea
