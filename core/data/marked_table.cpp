#include "data/marked_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace fovea {
namespace {

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
      {"→", "$\\to$"},
      {"−", "$-$"},
      {"^", "\\textasciicircum{}"},
      {"~", "\\textasciitilde{}"},
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
    out += std::string_view("|*_<>`\\").find(c) == std::string_view::npos ? std::string(1, c)
                                                                          : std::string("\\") + c;
  return out;
}

/// How one format writes a table.
struct TableStyle {
  std::string begin, separator, end_of_line, after_header, end;
  std::string mark_before, mark_after;  // around what is marked
  std::string before_foot;
  std::string (*escaped)(std::string_view);
};

TableStyle style_of(TableFormat format, std::size_t columns) {
  std::string rule = "|---|";
  for (std::size_t c = 0; c < columns; ++c) rule += "---:|";
  switch (format) {
    case TableFormat::markdown:
      return {"| ", " | ", " |\n", rule + "\n", "", "**", "**", "\n", in_markdown};
    case TableFormat::latex:
      return {"",          " & ", " \\\\\n", "\\midrule\n", "\\bottomrule\n\\end{tabular}\n",
              "\\textbf{", "}",   "% ",      in_latex};
    case TableFormat::text:
      break;
  }
  return {
      "", "\t", "\n", "", "", "", "*", "", [](std::string_view text) { return std::string(text); }};
}

}  // namespace

std::string to_text(const MarkedTable& table, TableFormat format) {
  const TableStyle style = style_of(format, table.titles.size());
  std::string out;
  if (format == TableFormat::latex)
    out += "\\begin{tabular}{l" + std::string(table.titles.size(), 'r') + "}\n\\toprule\n";
  const auto line = [&](const std::string& first, const auto& cells, auto text_of) {
    out += style.begin + style.escaped(first);
    for (const auto& cell : cells) out += style.separator + text_of(cell);
    out += style.end_of_line;
  };
  line(table.corner, table.titles, style.escaped);
  out += style.after_header;
  for (const MarkedTable::Row& row : table.rows)
    line(row.title, row.cells, [&](const MarkedTable::Cell& cell) {
      const std::string text = style.escaped(cell.text);
      return cell.marked ? style.mark_before + text + style.mark_after : text;
    });
  out += style.end;
  if (!table.foot.empty()) out += style.before_foot + table.foot + "\n";
  return out;
}

}  // namespace fovea
