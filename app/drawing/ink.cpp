#include "drawing/ink.h"

namespace fovea::drawing {

void Ink::write(const Rect& where, const std::string& words, Align align, Rgba colour,
                Letters face) {
  if (words.empty()) return;
  double left = where.x;
  if (align != Align::left) {
    const double slack = where.width - letters.width(words, face);
    left += align == Align::right ? slack : slack / 2;
  }
  text({left, where.centre().y}, words, colour, face);
}

void Ink::write_lines(const Rect& where, const std::vector<std::string>& lines, Align align,
                      Rgba colour, Letters face) {
  Rect at{where.x, where.y, where.width, letters.line(face)};
  for (const std::string& words : lines) {
    write(at, words, align, colour, face);
    at.y += at.height;
  }
}

void Ink::write_paragraph(const Rect& where, const std::string& words, Rgba colour, Letters face) {
  const int most = std::max(1.0, where.height / letters.line(face));
  const auto lines = letters.wrapped(words, where.width, most, face);
  const double block = height_of(lines, letters, face);
  write_lines({where.x, where.centre().y - block / 2, where.width, block}, lines, Align::centre,
              colour, face);
}

}  // namespace fovea::drawing
