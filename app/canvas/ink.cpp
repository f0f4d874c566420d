#include "canvas/ink.h"

#include <cmath>

namespace fovea::canvas {

std::string Ink::elided(Face face, const std::string& text, float room) const {
  if (width(face, text) <= room) return text;
  std::string kept = text;
  while (!kept.empty()) {
    do kept.pop_back();
    while (!kept.empty() && (static_cast<unsigned char>(kept.back()) & 0x80) &&
           (static_cast<unsigned char>(kept.back()) & 0xC0) != 0xC0);
    // A lead byte without its followers is no sign.
    if (!kept.empty() && (static_cast<unsigned char>(kept.back()) & 0xC0) == 0xC0) kept.pop_back();
    while (!kept.empty() && (kept.back() == ' ' || kept.back() == ',')) kept.pop_back();
    if (width(face, kept + "…") <= room) return kept.empty() ? "" : kept + "…";
  }
  return "";
}

std::vector<std::string> Ink::wrapped(Face face, const std::string& text, float room,
                                      int lines) const {
  std::vector<std::string> out = fonts.wrapped(face, text, room, lines);
  for (std::string& line : out) line = elided(face, line, room);
  return out;
}

void Ink::write(Face face, Point at, ImU32 colour, const std::string& text) const {
  list.AddText(fonts[face], fonts.size(face), {std::round(at.x), std::round(at.y)}, colour,
               text.data(), text.data() + text.size());
}

void Ink::write_right(Face face, Point at, ImU32 colour, const std::string& text) const {
  write(face, {at.x - width(face, text), at.y}, colour, text);
}

void Ink::write_centred(Face face, Point centre, ImU32 colour, const std::string& text) const {
  write(face, {centre.x - width(face, text) / 2, centre.y - fonts.size(face) / 2}, colour, text);
}

void Ink::write_upright(Face face, Point centre, ImU32 colour, const std::string& text) const {
  const int first = list.VtxBuffer.Size;
  const Point middle{std::round(centre.x), std::round(centre.y)};
  const float w = std::round(width(face, text) / 2), h = std::round(fonts.size(face) / 2);
  // Unclipped while it lies flat: the list's clip rectangle is for where it will stand.
  constexpr float far = 1e6f;
  fonts[face]->RenderText(&list, fonts.size(face), {middle.x - w, middle.y - h}, colour,
                          {-far, -far, far, far}, text.data(), text.data() + text.size());
  for (int v = first; v < list.VtxBuffer.Size; ++v) {
    ImVec2& p = list.VtxBuffer[v].pos;
    p = {middle.x + (p.y - middle.y), middle.y - (p.x - middle.x)};
  }
}

void Ink::write_paragraph(Face face, const Rect& within, ImU32 colour,
                          const std::string& text) const {
  const float height = fonts.size(face) + 4;
  const int most = std::max(1, static_cast<int>(within.height / height));
  const auto lines = wrapped(face, text, within.width, most);
  float y = within.centre().y - height * static_cast<float>(lines.size() - 1) / 2;
  for (const std::string& one : lines) {
    write_centred(face, {within.centre().x, y}, colour, one);
    y += height;
  }
}

void Ink::fill(const Rect& r, ImU32 colour, float rounding) const {
  list.AddRectFilled({r.x, r.y}, {r.right(), r.bottom()}, colour, rounding);
}

void Ink::frame(const Rect& r, ImU32 colour, float thickness, float rounding) const {
  list.AddRect({r.x, r.y}, {r.right(), r.bottom()}, colour, rounding, 0, thickness);
}

void Ink::line(Point a, Point b, ImU32 colour, float thickness) const {
  list.AddLine(vec(a), vec(b), colour, thickness);
}

}  // namespace fovea::canvas
