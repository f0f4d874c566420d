// Pages as PDF: blocks one below the other. A block that does not fit begins on the next page.
#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QPdfWriter>
#include <QTextDocument>
#include <algorithm>
#include <memory>
#include <numeric>

#include "figure/pages.h"
#include "figure/painting.h"
#include "figure/pdf_bytes.h"
#include "figure/recipe_in_pdf.h"

namespace fovea {
namespace {

// Points. A4 is 595 x 842.
constexpr QSizeF paper{595, 842};
constexpr double margin = (595 - page_text_width) / 2, text_height = 842 - 2 * margin;
constexpr double gap = 8;
constexpr int resolution = 1200;

QString html_text(const std::string& text) {
  return QString::fromStdString(text).toHtmlEscaped();
}

/// A text of some HTML, laid out in tenths of points, since Qt takes whole numbers.
class LaidText {
 public:
  explicit LaidText(const QString& html, double size = 8.5) {
    QFont font("DejaVu Sans");
    font.setPixelSize(static_cast<int>(tenth * size));
    font.setHintingPreference(QFont::PreferNoHinting);
    document_.setUseDesignMetrics(true);
    document_.setDocumentMargin(0);
    document_.setDefaultFont(font);
    document_.setDefaultStyleSheet(
        ".faint { color: #555555; } p, pre { margin: 0; }"
        "h1 { font-size: 150px; margin: 0; } h2 { font-size: 105px; margin: 0; }"
        "pre { font-family: 'DejaVu Sans Mono'; font-size: 70px; white-space: pre-wrap; }");
    document_.setHtml(html);
    document_.setTextWidth(tenth * page_text_width);
  }
  double height() const { return document_.size().height() / tenth; }
  void draw(QPainter& painter, double y) {
    painter.save();
    painter.translate(margin, y);
    painter.scale(1.0 / tenth, 1.0 / tenth);
    QAbstractTextDocumentLayout::PaintContext context;
    context.palette.setColor(QPalette::Text, Qt::black);  // the palette of the program may be dark
    document_.documentLayout()->draw(&painter, context);
    painter.restore();
  }

 private:
  static constexpr int tenth = 10;
  QTextDocument document_;
};

/// A drawn part of a block.
struct Piece {
  std::unique_ptr<LaidText> text;
  const Figure* figure = nullptr;
  double height = 0;
  bool with_next = false;  // on one page with the next piece
};

/// In percent: the first column has a fifth of the width, the others the rest, by their longest
/// cells.
std::vector<double> widths_of(const NumberTable& table) {
  constexpr int shortest = 7;  // letters: headings have words of this length
  std::vector<double> letters(table.header.size(), shortest);
  for (const auto& row : table.rows)
    for (std::size_t c = 1; c < row.size(); ++c)
      letters[c] = std::max<double>(letters[c], QString::fromStdString(row[c]).size());
  letters.front() = 0;
  const double all = std::accumulate(letters.begin(), letters.end(), 0.0);
  for (double& width : letters) width *= 80 / all;
  letters.front() = 20;
  return letters;
}

/// The names in the first column are not broken at their hyphens.
QString table_row(const std::vector<std::string>& cells, const std::vector<double>& widths,
                  const char* tag) {
  QString html = "<tr>";
  for (std::size_t c = 0; c < cells.size(); ++c)
    html +=
        QString("<%1 align=\"%2\" width=\"%3%\">%4</%1>")
            .arg(tag, c == 0 ? "left" : "right")
            .arg(widths[c])
            .arg(c == 0 ? html_text(cells[c]).replace('-', QChar(0x2011)) : html_text(cells[c]));
  return html + "</tr>";
}

QString html_of_table(const NumberTable& table) {
  QString html = "<table width=\"100%\" cellspacing=\"0\" cellpadding=\"20\">";
  const std::vector<double> widths = widths_of(table);
  html += "<thead>" + table_row(table.header, widths, "th") + "</thead>";
  for (const auto& row : table.rows) html += table_row(row, widths, "td");
  return html + "</table><p class=\"faint\">" + html_text(table.caption) + "</p>";
}

QString html_of_facts(const Facts& facts) {
  QString html = facts.title.empty() ? QString() : "<p><b>" + html_text(facts.title) + "</b></p>";
  html += "<table cellspacing=\"0\" cellpadding=\"10\">";
  for (const auto& [name, value] : facts.rows)
    if (!value.empty())
      html += QString("<tr><td class=\"faint\" width=\"22%\">%1</td><td>%2</td></tr>")
                  .arg(html_text(name), html_text(value));
  return html + "</table>";
}

class PageWriter {
 public:
  explicit PageWriter(const Pages& pages) {
    add_text("<h1>" + html_text(pages.title) + "</h1>", 8.5, true);
    for (const Block& block : pages.blocks) std::visit([&](const auto& one) { add(one); }, block);
  }

  /// The number of each page is at its foot, with the title.
  void draw(QPdfWriter& writer, QPainter& painter, const QString& title) {
    const auto begins = page_begins();
    for (std::size_t page = 0; page < begins.size(); ++page) {
      if (page > 0) writer.newPage();
      const std::size_t end = page + 1 < begins.size() ? begins[page + 1] : pieces_.size();
      double y = margin;
      for (std::size_t i = begins[page]; i < end; ++i) {
        draw_piece(painter, pieces_[i], y);
        y += pieces_[i].height + gap;
      }
      LaidText foot(QString("<p class=\"faint\" align=\"right\">%1 · %2 of %3</p>")
                        .arg(title.toHtmlEscaped())
                        .arg(page + 1)
                        .arg(begins.size()),
                    7);
      foot.draw(painter, paper.height() - margin * 0.7);
    }
  }

 private:
  void add_text(const QString& html, double size = 8.5, bool with_next = false) {
    Piece piece{.text = std::make_unique<LaidText>(html, size), .with_next = with_next};
    piece.height = piece.text->height();
    pieces_.push_back(std::move(piece));
  }
  void add(const Heading& block) { add_text("<h2>" + html_text(block.text) + "</h2>", 8.5, true); }
  void add(const Paragraph& block) { add_text("<p>" + html_text(block.text) + "</p>"); }
  void add(const Verbatim& block) { add_text("<pre>" + html_text(block.text) + "</pre>"); }
  void add(const Facts& block) { add_text(html_of_facts(block)); }
  void add(const NumberTable& block) { add_text(html_of_table(block), 7); }
  void add(const Illustration& block) {
    pieces_.push_back({.figure = &block.figure,
                       .height = figure_height(block.figure),
                       .with_next = !block.caption.empty()});
    if (!block.caption.empty())
      add_text("<p class=\"faint\">" + html_text(block.caption) + "</p>", 7.5);
  }

  static void draw_piece(QPainter& painter, Piece& piece, double y) {
    if (piece.text) return piece.text->draw(painter, y);
    painter.save();
    painter.translate(margin, y);
    draw_figure(painter, *piece.figure);
    painter.restore();
  }

  /// The first piece of each page.
  std::vector<std::size_t> page_begins() const {
    std::vector<std::size_t> begins{0};
    double y = 0;
    for (std::size_t i = 0; i < pieces_.size();) {
      std::size_t end = i + 1;
      double height = pieces_[i].height;
      for (; end < pieces_.size() && pieces_[end - 1].with_next; ++end)
        height += gap + pieces_[end].height;
      if (y > 0 && y + height > text_height) {
        begins.push_back(i);
        y = 0;
      }
      y += height + gap;
      i = end;
    }
    return begins;
  }

  std::vector<Piece> pieces_;
};

}  // namespace

QByteArray pdf_of(const Pages& pages) {
  QBuffer out;
  out.open(QIODevice::WriteOnly);
  {
    const SameHashes hashes;
    const QString title = QString::fromStdString(pages.title);
    auto writer = std::make_unique<QPdfWriter>(&out);
    writer->setTitle(title);
    writer->setCreator("Fovea");
    writer->setResolution(resolution);
    writer->setPageSize(QPageSize(paper, QPageSize::Point, "A4", QPageSize::FuzzyMatch));
    writer->setPageMargins(QMarginsF(0, 0, 0, 0));
    attach(*writer, pages.recipe);
    paint(std::move(writer), [&](QPainter& painter, QPdfWriter& device) {
      painter.scale(resolution / points_per_inch, resolution / points_per_inch);
      PageWriter(pages).draw(device, painter, title);
    });
  }
  put_date_into_pdf(out.buffer());
  return out.data();
}

}  // namespace fovea
