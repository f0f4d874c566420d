#include <algorithm>
#include <cmath>

#include "figure/bodies.h"

namespace fovea {
namespace {

constexpr double kSmallestNumber = 4.5;  // points; a smaller one cannot be read

void draw_number(Ink& ink, const QRectF& box, int rank, const QColor& on) {
  const QString text = QString::number(rank);
  const double by_width = 0.72 * box.width() / ink.letters.width(text, 1);
  const double size = std::min({by_width, 0.62 * box.height() / 0.73, 1.6 * ink.letters.size()});
  if (size < kSmallestNumber) return;
  const bool pale = qGray(on.rgb()) > 130;
  ink.write(box, text, Align::centre, pale ? QColor(48, 24, 10) : QColor(Qt::white), false, size);
}

}  // namespace

void draw_block_map(Ink& ink, const QRectF& where, const BlockMap& blocks,
                    const ColourScale& scale) {
  const IndexRange tokens = tokens_of(blocks);
  const double unit = where.width() / static_cast<double>(std::max<Index>(1, tokens.size()));
  const double down = where.height() / static_cast<double>(std::max<Index>(1, tokens.size()));
  for (const RankBlock& block : blocks.map.blocks) {
    const QRectF box(where.left() + static_cast<double>(block.cols.begin - tokens.begin) * unit,
                     where.top() + static_cast<double>(block.rows.begin - tokens.begin) * down,
                     static_cast<double>(block.cols.size()) * unit,
                     static_cast<double>(block.rows.size()) * down);
    const Rgb c = scale.colour(rank_share(blocks, block, ink.style.rank_colour));
    const QColor colour(c[0], c[1], c[2]);
    ink.fill(box, colour);
    const double edge = std::clamp(0.03 * box.width(), 0.1, 0.4);
    ink.outline(box, QColor(60, 40, 30), edge);
    draw_number(ink, box, block.rank, colour);
  }
}

}  // namespace fovea
