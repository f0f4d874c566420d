// A PgfInk draws everything but words with a painter, and writes the words down as PGF places them:
// LaTeX sets them in the letters of the document.
#pragma once

#include <string>

#include "figure/painter_ink.h"

namespace fovea {

class PgfInk final : public PainterInk {
 public:
  using PainterInk::PainterInk;

  void write(const Rect& where, const std::string& words, drawing::Align align, Rgba colour,
             drawing::Letters face = {}) override;
  void text(Point at, const std::string& words, Rgba colour, drawing::Letters face = {}) override;
  void text_upwards(Point centre, const std::string& words, Rgba colour,
                    drawing::Letters face = {}) override;
  void within(const drawing::HalfPlane& where, const std::function<void()>& draw) override;

  /// \pgftext for each of them, in order. The origin is the figure's top left.
  const std::string& placed_words() const { return placed_; }

 private:
  void place(const std::string& options, Point at, const std::string& words, Rgba colour,
             drawing::Letters face);

  std::string placed_;
  bool cut_ = false;  // words that a border cuts are drawn
};

}  // namespace fovea
