// Pages are a text with tables and figures, as one HTML file for a browser or as PDF for print.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "figure/figure.h"

namespace fovea {

inline constexpr double page_text_width = 487;  // points, between the margins of A4

struct Heading {
  std::string text;
};
struct Paragraph {
  std::string text;
};
/// Text as it stands, in letters of equal width.
struct Verbatim {
  std::string text;
};
/// Names and values, perhaps below a title of their own; empty values are left out.
struct Facts {
  using Rows = std::vector<std::pair<std::string, std::string>>;
  std::string title = {};
  Rows rows;
};
/// The first column is text, the others are numbers.
struct NumberTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::string caption;
};
/// As wide as its style says, at most page_text_width, and less high than a page.
struct Illustration {
  Figure figure;
  std::string caption;
};

using Block = std::variant<Heading, Paragraph, Verbatim, Facts, NumberTable, Illustration>;

struct Pages {
  std::string title;
  std::vector<Block> blocks;
  Recipe recipe = {};  // in the file
};

/// One file without references to others; figures are vectors.
std::string html_of(const Pages& pages);

/// A4. The only date is that of the environment variable SOURCE_DATE_EPOCH, if it is set.
QByteArray pdf_of(const Pages& pages);

/// Throws UsageError unless the name ends in .pdf or .html.
void check_pages_name(const std::string& path);

/// By the ending of `path`: .pdf or .html. The file is replaced as a whole (io/atomic_file.h).
/// Throws UnavailableError if it cannot be written.
void write_pages(const std::string& path, const Pages& pages);

}  // namespace fovea
