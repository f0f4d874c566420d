#include "input/text_file.h"

#include <QString>
#include <QTextBoundaryFinder>
#include <algorithm>

#include "data/error.h"
#include "data/stop.h"
#include "data/synthetic.h"
#include "data/utf8.h"
#include "io/token_file.h"

namespace fovea {
namespace {

std::vector<std::string> split_words(std::string_view text, const std::stop_token& stop) {
  const QString unicode = QString::fromUtf8(text.data(), text.size());
  QTextBoundaryFinder finder(QTextBoundaryFinder::Word, unicode);
  std::vector<std::string> words;
  for (qsizetype begin = 0, end = finder.toNextBoundary(); end >= 0;
       begin = end, end = finder.toNextBoundary()) {
    check_stop(stop);
    const QString word = unicode.mid(begin, end - begin).trimmed();
    if (!word.isEmpty()) words.push_back(word.toStdString());
  }
  return words;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
  }
  return lines;
}

/// Without the byte order mark.
std::string_view require_text(const std::string& path, std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw InputError(path, "begins with the byte order mark of UTF-16; expected UTF-8");
  if (const std::size_t offset = valid_utf8_prefix(text); offset < text.size()) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(text[offset]);
    throw InputError(path, "byte " + std::to_string(offset) + " (0x" + digits[byte >> 4] +
                               digits[byte & 15] + ") is not UTF-8; expected a text in UTF-8");
  }
  if (const std::size_t zero = text.find('\0'); zero != text.npos)
    throw InputError(
        path, "byte " + std::to_string(zero) + " is zero, as in no text; expected a text in UTF-8");
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

}  // namespace

std::size_t valid_utf8_prefix(std::string_view text) {
  std::size_t offset = 0;
  while (offset < text.size()) {
    const std::size_t length = first_character(text.substr(offset)).length;
    if (length == 0) break;
    offset += length;
  }
  return offset;
}

std::string read_whole_text(const FileBytes& file, const std::stop_token& stop) {
  const std::string content = read_token_text(file, stop);
  const std::string_view text = require_text(file.path(), content);
  if (text.find_first_not_of(" \t\r\n") == text.npos)
    throw InputError(file.path(), "has no words; expected a text");
  return std::string(text);
}

std::vector<std::string> read_text(const FileBytes& file, bool one_token_per_line,
                                   const std::stop_token& stop) {
  const std::string& path = file.path();
  const std::string content = read_token_text(file, stop);
  const std::string_view text = require_text(path, content);
  check_stop(stop);
  std::vector<std::string> tokens =
      one_token_per_line ? split_lines(text) : split_words(text, stop);
  if (std::ranges::all_of(tokens, [](const std::string& token) { return token.empty(); }))
    throw InputError(path, "has no words; expected a text");
  if (const auto count = static_cast<Index>(tokens.size()); count > most_tokens)
    throw InputError(path, "has " + std::to_string(count) + " tokens; expected at most " +
                               std::to_string(most_tokens));
  return tokens;
}

}  // namespace fovea
