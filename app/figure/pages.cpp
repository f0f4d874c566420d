#include "figure/pages.h"

#include <QFileInfo>
#include <QString>
#include <algorithm>
#include <cmath>
#include <ostream>

#include "data/error.h"
#include "io/atomic_file.h"

namespace fovea {
namespace {

constexpr const char* style = R"(
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1c1c1c; background: #fff;
       max-width: 60em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; line-height: 1.2; } h2 { font-size: 1.15em; margin-top: 2em; } h3 { font-size: 1em; margin: 1.2em 0 .2em; }
figure { margin: 1.5em 0; } figure img { height: auto; }
figcaption, caption { color: #555; font-size: .9em; text-align: left; }
caption { caption-side: bottom; padding-top: .5em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: .2em .8em .2em 0; vertical-align: top; text-align: left; }
table.numbers { width: 100%; font-size: .9em; }
table.numbers th { border-bottom: 1px solid #1c1c1c; font-weight: 600; }
table.numbers td + td, table.numbers th + th { text-align: right; }
table.numbers td + td { white-space: nowrap; }
table.facts td:first-child { color: #555; white-space: nowrap; }
table.facts td:last-child { overflow-wrap: anywhere; }
pre { background: #f3f3f3; padding: .7em; white-space: pre-wrap; overflow-wrap: anywhere; }
@media print { body { margin: 0; max-width: none; font-size: 10pt; }
               figure, table, pre { break-inside: avoid; } h2 { break-after: avoid; } }
)";

std::string escaped(const std::string& text) {
  return QString::fromStdString(text).toHtmlEscaped().toStdString();
}

std::string row(const std::vector<std::string>& cells, const std::string& tag) {
  std::string html = "<tr>";
  for (const std::string& cell : cells) html += "<" + tag + ">" + escaped(cell) + "</" + tag + ">";
  return html + "</tr>\n";
}

struct Writer {
  std::string operator()(const Heading& block) const {
    return "<h2>" + escaped(block.text) + "</h2>\n";
  }
  std::string operator()(const Paragraph& block) const {
    return "<p>" + escaped(block.text) + "</p>\n";
  }
  std::string operator()(const Verbatim& block) const {
    return "<pre>" + escaped(block.text) + "</pre>\n";
  }
  std::string operator()(const Facts& block) const {
    std::string html = block.title.empty() ? "" : "<h3>" + escaped(block.title) + "</h3>\n";
    html += "<table class=\"facts\">\n";
    for (const auto& [name, value] : block.rows)
      if (!value.empty()) html += row({name, value}, "td");
    return html + "</table>\n";
  }
  std::string operator()(const NumberTable& block) const {
    std::string html = "<table class=\"numbers\">\n<caption>" + escaped(block.caption) +
                       "</caption>\n" + row(block.header, "th");
    for (const auto& cells : block.rows) html += row(cells, "td");
    return html + "</table>\n";
  }
  std::string operator()(const Illustration& block) const {
    const double share = std::min(1.0, block.figure.style.width / page_text_width);
    return "<figure><img style=\"width: " + std::to_string(std::lround(100 * share)) +
           "%\" alt=\"" + escaped(block.caption) + "\" src=\"" +
           data_url("image/svg+xml", svg_of(block.figure)) + "\">\n<figcaption>" +
           escaped(block.caption) + "</figcaption></figure>\n";
  }
};

bool ends_in(const std::string& path, const char* ending) {
  return QFileInfo(QString::fromStdString(path)).suffix().toLower() == ending;
}

}  // namespace

std::string html_of(const Pages& pages) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
      std::string(html_generator) + "\n<title>" + escaped(pages.title) + "</title>\n<style>" +
      style + "</style>\n</head>\n<body>\n<h1>" + escaped(pages.title) + "</h1>\n";
  for (const Block& block : pages.blocks) html += std::visit(Writer(), block);
  return html + links_to(pages.recipe) + "</body>\n</html>\n";
}

void check_pages_name(const std::string& path) {
  if (!ends_in(path, "pdf") && !ends_in(path, "html"))
    throw UsageError(path + ": expected a name that ends in .pdf or .html");
}

void write_pages(const std::string& path, const Pages& pages) {
  check_pages_name(path);
  const std::string bytes = ends_in(path, "html") ? html_of(pages) : pdf_of(pages).toStdString();
  write_atomically(path, [&](std::ostream& file) { file.write(bytes.data(), bytes.size()); });
}

}  // namespace fovea
