#include "drawing/lettering.h"

#include <algorithm>
#include <cstdio>

#include "data/utf8.h"

namespace fovea::drawing {
namespace {

bool continues(char c) {
  return (c & 0xC0) == 0x80;
}

std::string without_trailing(std::string text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == ',')) text.pop_back();
  return text;
}

std::string without_space(const std::string& line) {
  return line.ends_with(' ') ? line.substr(0, line.size() - 1) : line;
}

bool starts(const std::string& text, std::size_t at, std::string_view what) {
  return text.compare(at, what.size(), what) == 0;
}

bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}

bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

bool is_letter(char c) {
  return is_small(c) || is_capital(c);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Words with the space behind them. Quantities stay whole: no line ends at " = ", " × " or " %",
/// or between a name and its number.
std::vector<std::string> words_of(const std::string& paragraph) {
  std::vector<std::string> words(1);
  for (std::size_t at = 0; at < paragraph.size(); ++at) {
    words.back() += paragraph[at];
    if (paragraph[at] != ' ') continue;
    const bool before =
        starts(paragraph, at, " = ") || starts(paragraph, at, " × ") || starts(paragraph, at, " %");
    const bool behind = (at >= 2 && starts(paragraph, at - 2, " = ")) ||
                        (at >= 3 && starts(paragraph, at - 3, " × "));
    const bool named = at > 0 && at + 1 < paragraph.size() && is_letter(paragraph[at - 1]) &&
                       is_digit(paragraph[at + 1]);
    if (!before && !behind && !named) words.emplace_back();
  }
  std::erase_if(words, [](const std::string& w) { return w.empty() || w == " "; });
  return words;
}

/// After a space or a hyphen, and between a small and a capital letter.
std::vector<std::string> parts_of(const std::string& word) {
  std::vector<std::string> parts(1);
  for (std::size_t at = 0; at < word.size(); ++at) {
    const bool is_seam = at > 0 && (word[at - 1] == ' ' || word[at - 1] == '-' ||
                                    (is_small(word[at - 1]) && is_capital(word[at])));
    if (is_seam) parts.emplace_back();
    parts.back() += word[at];
  }
  return parts;
}

/// The largest count up to `most` that fits; if a count fits, all smaller ones must fit, too. No
/// count beyond twice the result is tried, so that breaking a long text takes linear time.
template <class Fits>
std::size_t largest_fitting(std::size_t most, const Fits& fits) {
  std::size_t low = 0, high = 1;
  for (; high <= most && fits(high); high *= 2) low = high;
  high = std::min(high, most + 1);
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

/// Divides a part of a word into pieces that fit, with hyphens between letters; a rest that cannot
/// be divided stays too long.
template <class Fits>
std::vector<std::string> pieces_of(std::string part, const Fits& fits) {
  constexpr std::size_t together = 3;  // letters before and behind a hyphen
  const auto can_part = [&](std::size_t at) {
    return std::all_of(part.begin() + at - together, part.begin() + at + together, is_letter);
  };
  std::vector<std::string> pieces;
  for (;;) {
    std::size_t at = largest_fitting(part.size(), [&](std::size_t count) {
      while (count < part.size() && continues(part[count])) ++count;  // whole characters
      return fits(part.substr(0, count));
    });
    if (at == part.size() || part.size() < 2 * together) break;
    at = std::min(at, part.size() - together);
    while (at >= together && !(can_part(at) && fits(part.substr(0, at) + "-"))) --at;
    if (at < together) break;
    pieces.push_back(part.substr(0, at) + "-");
    part.erase(0, at);
  }
  pieces.push_back(part);
  return pieces;
}

}  // namespace

std::string Lettering::elided(const std::string& text, double room, Letters face) const {
  if (width(text, face) <= room) return text;
  std::vector<std::size_t> ends;  // of characters
  for (std::size_t at = 1; at < text.size(); ++at)
    if (!continues(text[at])) ends.push_back(at);
  const auto cut = [&](std::size_t count) {
    const std::string kept = count > 0 ? without_trailing(text.substr(0, ends[count - 1])) : "";
    return kept.empty() ? std::string() : kept + "…";
  };
  return cut(largest_fitting(ends.size(),
                             [&](std::size_t count) { return width(cut(count), face) <= room; }));
}

void Lettering::break_paragraph(const std::string& paragraph, double room, Letters face,
                                std::vector<std::string>& lines) const {
  const auto fits = [&](const std::string& text) {
    return width(without_space(text), face) <= room;
  };
  std::string line;
  const auto add = [&](const std::string& word) {
    if (!line.empty() && !fits(line + word)) {
      lines.push_back(without_space(line));
      line.clear();
    }
    line += word;
  };
  for (const std::string& word : words_of(paragraph)) {
    if (fits(word)) {
      add(word);
    } else {
      for (const std::string& part : parts_of(word))
        for (const std::string& piece : pieces_of(part, fits)) add(piece);
    }
  }
  if (!line.empty()) lines.push_back(without_space(line));
}

std::vector<std::string> Lettering::wrapped(const std::string& text, double room, int most,
                                            Letters face) const {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    break_paragraph(text.substr(begin, end - begin), room, face, lines);
    begin = end + 1;
  }
  const std::size_t count = std::max(most, 1);
  for (std::size_t extra = count; extra < lines.size(); ++extra)
    lines[count - 1] += " " + lines[extra];
  if (lines.size() > count) lines.resize(count);
  for (std::string& line : lines) line = elided(line, room, face);
  return lines;
}

std::string Lettering::readable(const std::string& token) const {
  std::string out;
  for (std::size_t at = 0, length; at < token.size(); at += length) {
    const Character character = first_character(std::string_view(token).substr(at));
    const char32_t code = character.length > 0 ? character.code : 0xFFFD;
    length = std::max<std::size_t>(1, character.length);
    if (code == '\n') {
      out += "↵";
    } else if (code == '\t') {
      out += "⇥";
    } else if (code == ' ' && (at == 0 || at + 1 == token.size())) {
      out += "·";
    } else if (code >= 0x20 && code != 0x7F && code != 0xFFFD && has_glyph(code)) {
      out += token.substr(at, length);
    } else {
      char name[16];
      std::snprintf(name, sizeof name, "U+%04X", unsigned(code));
      out += name;
    }
  }
  return out;
}

bool is_whole(const std::vector<std::string>& lines, std::string text) {
  std::string all;
  for (const std::string& line : lines) all += line;
  std::erase(all, ' ');
  std::erase(text, ' ');
  return all == text;
}

}  // namespace fovea::drawing
