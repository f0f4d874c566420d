#include <algorithm>

#include "drawing/bodies.h"

namespace fovea::drawing {
namespace {

constexpr Rgba kEdge{60, 40, 30};
constexpr double kSmallest = 0.64, kLargest = 1.5;  // numbers, in letters

void draw_number(Ink& ink, const Rect& box, int rank, const Rgb& ground) {
  const std::string text = std::to_string(rank);
  const double by_width = 0.72 * box.width / ink.letters.width(text, 1);
  const double size =
      std::min({by_width, 0.75 * std::min(box.width, box.height), kLargest * ink.letters.size()});
  if (size < kSmallest * ink.letters.size()) return;
  ink.write(box, text, Align::centre, readable_on(ground), {size});
}

}  // namespace

void draw(const BodyDrawing& d, const BlockMap& blocks) {
  const Clip clip(d.ink, d.plot.where);
  for (const RankBlock& block : blocks.map.blocks) {
    const Rect box = d.plot.box(block.rows, block.cols);
    if (box.intersected(d.plot.where).empty()) continue;
    const Rgb colour = d.scale->colour(rank_share(blocks, block, d.scale->rank_colour));
    d.ink.fill(box, opaque(colour));
    const double side = std::min(box.width, box.height);
    if (side >= 4 * d.ink.style.finest)
      d.ink.outline(box, {faded(kEdge, 0.6), std::min(d.ink.style.hair, 0.1 * side)});
    draw_number(d.ink, box, block.rank, colour);
  }
}

}  // namespace fovea::drawing
