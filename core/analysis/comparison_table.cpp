#include "analysis/comparison_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
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

std::string in_latex(std::string_view text) {
  static const std::vector<std::pair<std::string_view, std::string_view>> special{
      {"\\", "\\textbackslash{}"},
      {"‖", "$\\|$"},
      {"∞", "$\\infty$"},
      {"P̃", "$\\tilde{P}$"},
      {"±", "$\\pm$"},
      {"×", "$\\times$"},
      {"µ", "$\\mu$"},
      {"≈", "$\\approx$"},
      {"_", "\\_"},
      {"%", "\\%"},
      {"&", "\\&"},
      {"#", "\\#"},
      {"{", "\\{"},
      {"}", "\\}"},
      {"$", "\\$"}};
  static constexpr std::string_view superscripts[] = {"⁰", "¹", "²", "³", "⁴",
                                                      "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out;
  bool raised = false;  // within $^{...}$
  const auto raise = [&](bool on) {
    if (std::exchange(raised, on) != on) out += on ? "$^{" : "}$";
  };
  while (!text.empty()) {
    const auto starts = [&](std::string_view with) { return text.starts_with(with); };
    if (starts("⁻")) {
      raise(true);
      out += '-';
      text.remove_prefix(std::string_view("⁻").size());
      continue;
    }
    const auto digit = std::ranges::find_if(superscripts, starts);
    if (digit != std::end(superscripts)) {
      raise(true);
      out += std::to_string(digit - std::begin(superscripts));
      text.remove_prefix(digit->size());
      continue;
    }
    raise(false);
    const auto it = std::ranges::find_if(special, [&](const auto& s) { return starts(s.first); });
    out += it == special.end() ? text.substr(0, 1) : it->second;
    text.remove_prefix(it == special.end() ? 1 : it->first.size());
  }
  raise(false);
  return out;
}

std::string in_markdown(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c == '|' || c == '*' || c == '_' ? std::string("\\") + c : std::string(1, c);
  return out;
}

/// How one format writes a table.
struct Style {
  std::string begin, separator, end_of_line, after_header, end;
  std::string mark_before, mark_after;  // around the best
  std::string (*escaped)(std::string_view);
};

Style style_of(TableFormat format, std::size_t columns) {
  std::string rule = "|---|";
  for (std::size_t c = 0; c < columns; ++c) rule += "---:|";
  switch (format) {
    case TableFormat::markdown:
      return {"| ", " | ", " |\n", rule + "\n", "", "**", "**", in_markdown};
    case TableFormat::latex:
      return {"", " & ", " \\\\\n", "\\hline\n", "\\end{tabular}\n", "\\textbf{", "}", in_latex};
    case TableFormat::text:
      break;
  }
  return {"", "\t", "\n", "", "", "", "*", [](std::string_view text) { return std::string(text); }};
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
  const Style style = style_of(format, table.titles.size());
  std::string out;
  if (format == TableFormat::latex)
    out += "\\begin{tabular}{l" + std::string(table.titles.size(), 'r') + "}\n";
  const auto line = [&](const std::string& first, const auto& cells, auto text_of) {
    out += style.begin + style.escaped(first);
    for (const auto& cell : cells) out += style.separator + text_of(cell);
    out += style.end_of_line;
  };
  line("", table.titles, style.escaped);
  out += style.after_header;
  for (const ComparisonTable::Row& row : table.rows)
    line(row.measure->label, row.cells, [&](const ComparisonTable::Cell& cell) {
      const std::string text = style.escaped(cell.text);
      return cell.best ? style.mark_before + text + style.mark_after : text;
    });
  return out + style.end;
}

}  // namespace fovea
