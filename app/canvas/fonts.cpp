#include "canvas/fonts.h"

#include <imgui_freetype.h>

#include <QFile>
#include <QString>
#include <algorithm>
#include <array>
#include <cmath>

#include "input/assets.h"

namespace fovea::canvas {
namespace {

constexpr std::array kept{title_face, narrow_title_face, figure_face, body_face, small_face};

// Latin, accents, Greek, Cyrillic, punctuation, scripts, letters, arrows, operators, shapes.
constexpr ImWchar ranges[] = {0x0020, 0x024F, 0x02B0, 0x03FF, 0x0400, 0x04FF, 0x1D00,
                              0x1DBF, 0x1E00, 0x1EFF, 0x2000, 0x209F, 0x20A0, 0x20BF,
                              0x2100, 0x214F, 0x2190, 0x22FF, 0x2300, 0x23FF, 0x2580,
                              0x25FF, 0x2713, 0x2718, 0x27E8, 0x27E9, 0};
// Digits and what stands beside them.
constexpr ImWchar number_ranges[] = {0x0020, 0x007E, 0x00B2, 0x00D7, 0x2010, 0x2015, 0x2026,
                                     0x2026, 0x2070, 0x208E, 0x2212, 0x221E, 0};

/// The first font that exists; empty if the machine has none of them.
QString font_path(bool bold) {
  const QString name = bold ? "DejaVuSans-Bold.ttf" : "DejaVuSans.ttf";
  for (const char* const folder :
       {"/usr/share/fonts/truetype/dejavu/", "/usr/share/fonts/dejavu-sans-fonts/",
        "/usr/share/fonts/TTF/", "/usr/share/fonts/dejavu/"})
    if (QFile::exists(folder + name)) return folder + name;
  const QString own = QString::fromStdString(own_fonts_directory()) + "/" + name;
  return QFile::exists(own) ? own : QString();
}

// ImGui does not place accents by the letter below them: the tilde of P̃ would lie at the height
// for small letters, in the upper bow of the P. Since it stands only above capitals, it is raised
// for good.
void raise_tilde(ImFont& font, float size) {
  constexpr float capital_less_small = 0.19f;  // of DejaVu Sans, in ems
  const auto* tilde = font.FindGlyphNoFallback(0x0303);
  if (!tilde) return;
  auto& glyph = const_cast<ImFontGlyph&>(*tilde);
  glyph.Y0 -= capital_less_small * size;
  glyph.Y1 -= capital_less_small * size;
}

}  // namespace

void Fonts::load(double pixel_ratio) {
  ImGuiIO& io = ImGui::GetIO();
  io.Fonts->Clear();
  io.Fonts->FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  io.Fonts->FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
  for (std::size_t f = 0; f < kept.size(); ++f) {
    const QByteArray path = QFile::encodeName(font_path(kept[f].bold));
    const bool numbers = kept[f].size == figure_face.size;
    ImFontConfig config;
    config.SizePixels = float(kept[f].size * pixel_ratio);
    config.PixelSnapH = pixel_ratio == 1;
    faces_[f] = path.isEmpty()
                    ? io.Fonts->AddFontDefault(&config)
                    : io.Fonts->AddFontFromFileTTF(path.constData(), config.SizePixels, &config,
                                                   numbers ? number_ranges : ranges);
  }
  io.Fonts->Build();
  for (std::size_t f = 0; f < kept.size(); ++f)
    raise_tilde(*faces_[f], float(kept[f].size * pixel_ratio));
  io.FontDefault = face(body_face);
  io.FontGlobalScale = float(1 / pixel_ratio);
}

ImFont* Fonts::face(drawing::Letters letters) const {
  const auto distance = [&](const drawing::Letters& one) {
    return (one.bold == letters.bold ? 0 : 1000) + std::abs(one.size - letters.size);
  };
  const auto nearest = std::ranges::min_element(kept, {}, distance);
  return faces_[nearest - kept.begin()];
}

double Fonts::width(const std::string& text, drawing::Letters letters) const {
  letters.size = size(letters);
  return face(letters)
      ->CalcTextSizeA(float(letters.size), 1e6f, 0, text.data(), text.data() + text.size())
      .x;
}

bool Fonts::has_glyph(char32_t character) const {
  return character <= 0xFFFF && face({})->FindGlyphNoFallback(ImWchar(character)) != nullptr;
}

}  // namespace fovea::canvas
