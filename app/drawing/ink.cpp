#include "drawing/ink.h"

namespace fovea::drawing {

void Ink::write(const Rect& where, const std::string& words, Align align, Rgba colour,
                Letters face) {
  if (words.empty()) return;
  double left = where.x;
  if (align != Align::left) {
    const double slack = where.width - letters.width(words, face.size, face.bold);
    left += align == Align::right ? slack : slack / 2;
  }
  text({left, where.centre().y}, words, colour, face);
}

void Ink::write_lines(const Rect& where, const std::vector<std::string>& lines, Align align,
                      Rgba colour, Letters face) {
  Rect at{where.x, where.y, where.width, line_of(face)};
  for (const std::string& words : lines) {
    write(at, words, align, colour, face);
    at.y += at.height;
  }
}

void Ink::write_paragraph(const Rect& where, const std::string& words, Rgba colour, Letters face) {
  const int most = std::max(1.0, where.height / line_of(face));
  const auto lines = letters.wrapped(words, where.width, most, face.bold, face.size);
  const double block = line_of(face) * lines.size();
  write_lines({where.x, where.centre().y - block / 2, where.width, block}, lines, Align::centre,
              colour, face);
}

}  // namespace fovea::drawing
