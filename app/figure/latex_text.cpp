#include "figure/latex_text.h"

#include <QList>
#include <QString>
#include <cctype>
#include <map>

namespace fovea {
namespace {

/// Characters that figures write beside ASCII and accented Latin letters.
const std::map<char32_t, const char*>& mathematics() {
  static const std::map<char32_t, const char*> table{
      {U'α', "\\alpha"},
      {U'β', "\\beta"},
      {U'γ', "\\gamma"},
      {U'δ', "\\delta"},
      {U'ε', "\\varepsilon"},
      {U'θ', "\\theta"},
      {U'κ', "\\kappa"},
      {U'λ', "\\lambda"},
      {U'μ', "\\mu"},
      {U'π', "\\pi"},
      {U'ρ', "\\rho"},
      {U'σ', "\\sigma"},
      {U'τ', "\\tau"},
      {U'φ', "\\varphi"},
      {U'χ', "\\chi"},
      {U'ψ', "\\psi"},
      {U'ω', "\\omega"},
      {U'Δ', "\\Delta"},
      {U'Σ', "\\Sigma"},
      {U'Φ', "\\Phi"},
      {U'Ω', "\\Omega"},
      {U'×', "\\times"},
      {U'·', "\\cdot"},
      {U'±', "\\pm"},
      {U'−', "-"},
      {U'≤', "\\le"},
      {U'≥', "\\ge"},
      {U'≈', "\\approx"},
      {U'≠', "\\ne"},
      {U'∞', "\\infty"},
      {U'√', "\\surd"},
      {U'∈', "\\in"},
      {U'∉', "\\notin"},
      {U'∪', "\\cup"},
      {U'∩', "\\cap"},
      {U'∝', "\\propto"},
      {U'‖', "\\|"},
      {U'⌊', "\\lfloor"},
      {U'⌋', "\\rfloor"},
      {U'→', "\\rightarrow"},
      {U'←', "\\leftarrow"},
      {U'↔', "\\leftrightarrow"},
      {U'⇒', "\\Rightarrow"},
      {U'¬', "\\neg"},
      {U'°', "^{\\circ}"},
      {U'½', "\\frac12"},
      {U'²', "^2"},
      {U'³', "^3"},
      {U'¹', "^1"},
      {U'⁰', "^0"},
      {U'⁴', "^4"},
      {U'⁵', "^5"},
      {U'⁶', "^6"},
      {U'⁷', "^7"},
      {U'⁸', "^8"},
      {U'⁹', "^9"},
      {U'⁻', "^-"},
      {U'⁺', "^+"},
      {U'ᵀ', "^{\\top}"},
      {U'₀', "_0"},
      {U'₁', "_1"},
      {U'₂', "_2"},
      {U'₃', "_3"},
      {U'ᵢ', "_i"},
      {U'ⱼ', "_j"},
      {U'ᵣ', "_r"},
      {U'∑', "\\sum"},
      {U'Ẑ', "\\hat{\\mathrm Z}"},
      {U'ẑ', "\\hat{\\mathrm z}"},
  };
  return table;
}

/// The command for a combining accent, U+0300 and those that follow.
const char* accent_of(char32_t combining) {
  switch (combining) {
    case U'\u0302':
      return "\\hat";
    case U'\u0303':
      return "\\tilde";
    case U'\u0304':
      return "\\bar";
    default:
      return nullptr;
  }
}

const char* punctuation_of(char32_t c) {
  switch (c) {
    case U'–':
      return "--";
    case U'—':
      return "---";
    case U'…':
      return "\\dots{}";
    case U'“':
      return "``";
    case U'”':
      return "''";
    case U'‘':
      return "`";
    case U'’':
      return "'";
    case U'\u2011':
      return "-";
    case U'\u00a0':
    case U'\u202f':
    case U'\u2009':
      return "~";
    case U'\\':
      return "\\textbackslash{}";
    case U'~':
      return "\\textasciitilde{}";
    case U'^':
      return "\\textasciicircum{}";
    case U'<':
      return "\\textless{}";
    case U'>':
      return "\\textgreater{}";
    case U'|':
      return "\\textbar{}";
    case U'"':
      return "\\textquotedbl{}";
    default:
      return nullptr;
  }
}

std::string utf8(char32_t c) {
  return QString::fromUcs4(&c, 1).toStdString();
}

/// A control character may end a line for TeX, and no letter stands for it.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

std::string unknown(char32_t c) {
  const QString number = QString("U+%1").arg(uint(c), 4, 16, QChar('0')).toUpper();
  return "\\foveachar{" + utf8(is_control(c) ? U'\ufffd' : c) + "}{" + number.toStdString() + "}";
}

bool is_accented_latin(char32_t c) {
  return (c >= 0xc0 && c <= 0x17f && c != U'×' && c != U'÷') || c == U'ß';
}

std::string of(char32_t c) {
  if (const char* words = punctuation_of(c)) return words;
  if (c == U'{' || c == U'}' || c == U'$' || c == U'&' || c == U'#' || c == U'%' || c == U'_')
    return std::string("\\") + static_cast<char>(c);
  if (c >= 0x20 && c < 0x7f) return std::string(1, static_cast<char>(c));
  if (const auto found = mathematics().find(c); found != mathematics().end())
    return std::string("\\ensuremath{") + found->second + "}";
  return is_accented_latin(c) ? utf8(c) : unknown(c);
}

}  // namespace

std::string latex_text(const std::string& words) {
  const auto characters = QString::fromStdString(words).toUcs4();
  std::string text;
  for (qsizetype i = 0; i < characters.size(); ++i) {
    const auto c = static_cast<char32_t>(characters[i]);
    const char* accent =
        i + 1 < characters.size() ? accent_of(static_cast<char32_t>(characters[i + 1])) : nullptr;
    if (accent && c < 0x80 && std::isalpha(static_cast<int>(c))) {
      text += std::string("\\ensuremath{") + accent + "{\\mathrm " + static_cast<char>(c) + "}}";
      ++i;
    } else {
      text += of(c);
    }
  }
  return text;
}

}  // namespace fovea
