#include "figure/pgf_ink.h"

#include "figure/latex_text.h"

namespace fovea {
namespace {

using namespace drawing;

constexpr double capitals = 0.683;  // height in letters, of Computer Modern

std::string number(double value) {
  return QString::number(value, 'f', 3).toStdString();
}

}  // namespace

// The place comes first among the options: a rotation turns what follows it.
void PgfInk::place(const std::string& options, Point at, const std::string& words, Rgba colour,
                   Letters face) {
  const double size = letters.size(face);
  const auto share = [](int channel) { return number(channel / 255.0); };
  placed_ += "\\pgftext[x=" + number(at.x) + "bp,y=" + number(-at.y) + "bp," + options +
             "]{\\color[rgb]{" + share(colour.r) + "," + share(colour.g) + "," + share(colour.b) +
             "}\\fontsize{" + number(size) + "bp}{" + number(1.25 * size) + "bp}\\selectfont" +
             (face.bold ? "\\bfseries" : "") + "{}" + latex_text(words) + "}%\n";
}

void PgfInk::text(Point at, const std::string& words, Rgba colour, Letters face) {
  if (words.empty()) return;
  if (cut_) return PainterInk::text(at, words, colour, face);
  place("left,base", {at.x, at.y + capitals / 2 * letters.size(face)}, words, colour, face);
}

// Places words by their aligned end, as LaTeX's letters have other widths.
void PgfInk::write(const Rect& where, const std::string& words, Align align, Rgba colour,
                   Letters face) {
  if (words.empty()) return;
  if (cut_) return PainterInk::write(where, words, align, colour, face);
  const double x = align == Align::left    ? where.x
                   : align == Align::right ? where.right()
                                           : where.centre().x;
  const char* side = align == Align::left    ? "left,base"
                     : align == Align::right ? "right,base"
                                             : "base";
  place(side, {x, where.centre().y + capitals / 2 * letters.size(face)}, words, colour, face);
}

void PgfInk::text_upwards(Point centre, const std::string& words, Rgba colour, Letters face) {
  if (words.empty()) return;
  if (cut_) return PainterInk::text_upwards(centre, words, colour, face);
  place("base,rotate=90", {centre.x + capitals / 2 * letters.size(face), centre.y}, words, colour,
        face);
}

void PgfInk::within(const HalfPlane& where, const std::function<void()>& draw) {
  cut_ = true;
  PainterInk::within(where, draw);
  cut_ = false;
}

}  // namespace fovea
