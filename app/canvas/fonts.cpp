#include "canvas/fonts.h"

#include <imgui_freetype.h>

#include <QFile>
#include <QString>
#include <array>
#include <cstdint>
#include <cstdio>
#include <sstream>

namespace fovea::canvas {
namespace {

constexpr std::array<float, 3> sizes{14.0f, 12.0f, 11.0f};

// Latin, accents, Greek, Cyrillic, punctuation, scripts, letters, arrows, operators, shapes.
constexpr ImWchar ranges[] = {0x0020, 0x024F, 0x02B0, 0x03FF, 0x0400, 0x04FF, 0x1E00,
                              0x1EFF, 0x2000, 0x209F, 0x20A0, 0x20BF, 0x2100, 0x214F,
                              0x2190, 0x22FF, 0x2300, 0x23FF, 0x2580, 0x25FF, 0x2713,
                              0x2718, 0x27E8, 0x27E9, 0};

/// The first that is there; empty when the machine has none of them.
QString font_path(bool bold) {
  const QString name = bold ? "DejaVuSans-Bold.ttf" : "DejaVuSans.ttf";
  for (const char* const folder :
       {"/usr/share/fonts/truetype/dejavu/", "/usr/share/fonts/dejavu-sans-fonts/",
        "/usr/share/fonts/TTF/", "/usr/share/fonts/dejavu/"})
    if (QFile::exists(folder + name)) return folder + name;
  return {};
}

/// Decodes one UTF-8 sign at `at` and steps past it; 0xFFFD for a broken one.
std::uint32_t next_sign(const std::string& text, std::size_t& at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const std::uint32_t lead = byte(at++);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : -1;
  if (more < 0) return 0xFFFD;
  std::uint32_t sign = lead & (0x3Fu >> more);
  for (int k = 0; k < more; ++k) {
    if ((byte(at) & 0xC0) != 0x80) return 0xFFFD;
    sign = sign << 6 | (byte(at++) & 0x3F);
  }
  return sign;
}

// The tilde of P̃ lies where it tops small letters, in the upper bow of the P: nothing here places
// accents by the letter below them. It stands above capitals only, so it is raised for good.
void raise_tilde(ImFont& font, float size) {
  constexpr float capital_less_small = 0.19f;  // of DejaVu Sans, in ems
  const auto* tilde = font.FindGlyphNoFallback(0x0303);
  if (!tilde) return;
  auto& glyph = const_cast<ImFontGlyph&>(*tilde);
  glyph.Y0 -= capital_less_small * size;
  glyph.Y1 -= capital_less_small * size;
}

}  // namespace

void Fonts::load(float pixel_ratio) {
  ratio_ = pixel_ratio;
  ImGuiIO& io = ImGui::GetIO();
  io.Fonts->Clear();
  io.Fonts->FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  io.Fonts->FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
  for (std::size_t face = 0; face < sizes.size(); ++face) {
    const QByteArray path = QFile::encodeName(font_path(face == 0));
    ImFontConfig config;
    config.SizePixels = sizes[face] * pixel_ratio;
    config.PixelSnapH = pixel_ratio == 1.0f;
    faces_[face] = path.isEmpty() ? io.Fonts->AddFontDefault(&config)
                                  : io.Fonts->AddFontFromFileTTF(
                                        path.constData(), config.SizePixels, &config, ranges);
  }
  io.Fonts->Build();
  for (std::size_t face = 0; face < sizes.size(); ++face)
    raise_tilde(*faces_[face], sizes[face] * pixel_ratio);
  io.FontGlobalScale = 1.0f / pixel_ratio;
}

ImFont* Fonts::operator[](Face face) const {
  return faces_[static_cast<int>(face)];
}
float Fonts::size(Face face) const {
  return sizes[static_cast<std::size_t>(face)];
}

float Fonts::width(Face face, const std::string& text) const {
  return (*this)[face]
      ->CalcTextSizeA(size(face), 1e6f, 0, text.data(), text.data() + text.size())
      .x;
}

std::vector<std::string> Fonts::wrapped(Face face, const std::string& text, float room,
                                        int lines) const {
  std::vector<std::string> out;
  std::istringstream paragraphs(text);
  for (std::string paragraph; std::getline(paragraphs, paragraph);) {
    std::istringstream words(paragraph);
    std::string line;
    for (std::string word; words >> word;) {
      const std::string longer = line.empty() ? word : line + " " + word;
      const bool last = static_cast<int>(out.size()) + 1 >= lines;
      if (line.empty() || last || width(face, longer) <= room) {
        line = longer;
      } else {
        out.push_back(line);
        line = word;
      }
    }
    if (static_cast<int>(out.size()) < lines) out.push_back(line);
  }
  return out;
}

std::string Fonts::readable(const std::string& text) const {
  std::string out;
  const ImFont* font = (*this)[Face::small];
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const std::uint32_t sign = next_sign(text, at);
    if (sign == '\n')
      out += "⏎";
    else if (sign == '\t')
      out += "⇥";
    else if (sign == ' ' && (begin == 0 || at == text.size()))
      out += "·";
    else if (sign >= 0x20 && sign <= 0xFFFF && sign != 0x7F &&
             font->FindGlyphNoFallback(static_cast<ImWchar>(sign)))
      out += text.substr(begin, at - begin);
    else {
      char code[16];
      std::snprintf(code, sizeof code, "U+%04X", sign);
      out += code;
    }
  }
  return out;
}

}  // namespace fovea::canvas
