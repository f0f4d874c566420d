// Bodies made of words: messages and tables of figures.
#include <algorithm>

#include "canvas/bodies.h"

namespace fovea::canvas {

void draw_body(const BodyDrawing& d, const Message& message) {
  const bool narrow = d.where.width < 200;
  d.ink.write_paragraph(narrow ? Face::small : Face::body, d.where.inset(narrow ? 4 : 14),
                        d.ink.theme.muted, message.text);
}

void draw_body(const BodyDrawing& d, const FigureTable& table) {
  constexpr float line = 16, margin = 8;
  const float room = d.where.width - 2 * margin;
  float y = d.where.y + 8;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& [label, value] = table.rows[i];
    // What does not fit beside its label stands below it.
    const bool beside =
        d.ink.width(Face::small, label) + d.ink.width(Face::small, value) + 8 <= room;
    const float height = beside ? line : 2 * line - 3;
    const bool full = y + height + line > d.where.bottom() && i + 1 < table.rows.size();
    if (full) {
      const std::string more = std::to_string(table.rows.size() - i) + " more";
      d.ink.write(Face::small, {d.where.x + margin, y}, d.ink.theme.muted, more);
      return;
    }
    d.ink.write(Face::small, {d.where.x + margin, y}, d.ink.theme.muted,
                d.ink.elided(Face::small, label, room));
    d.ink.write_right(Face::small, {d.where.right() - margin, y + height - line}, d.ink.theme.text,
                      d.ink.elided(Face::small, value, room));
    y += height;
    if (i + 1 < table.rows.size())
      d.ink.line({d.where.x + margin, y - 2.5f}, {d.where.right() - margin, y - 2.5f},
                 d.ink.theme.faint);
  }
}

}  // namespace fovea::canvas
