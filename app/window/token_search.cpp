#include "window/token_search.h"

#include <algorithm>

#include "window/widgets/text.h"

namespace fovea {
namespace {

QString folded(const std::string& label) {
  return to_qt(label).toCaseFolded();
}

/// Whether a token has nothing but white space, which is displayed as signs for line breaks and
/// tabs.
bool is_blank(const QString& label) {
  return std::ranges::all_of(label, [](QChar c) {
    return c.isSpace() || c == u'\u21b5' || c == u'\u21e5' || c == u'\u21e4';
  });
}

/// Where text goes on after white space.
qsizetype after_space(const QString& text, qsizetype at) {
  while (at < text.size() && text[at].isSpace()) ++at;
  return at;
}

bool is_space_at(const QString& text, qsizetype at) {
  return at < text.size() && text[at].isSpace();
}

/// One past the last of several tokens from `first` on that hold all of `text`; `first` if they do
/// not.
Index end_of_text(const std::vector<std::string>& tokens, Index first, const QString& text) {
  qsizetype found = 0;    // characters of the text
  bool is_apart = false;  // white space is between the tokens so far and the next one
  for (Index j = first; j < std::ssize(tokens); ++j) {
    const QString label = folded(tokens[j]), word = label.trimmed();
    const bool blank = is_blank(label);
    is_apart = is_apart || blank || is_space_at(label, 0);
    if (blank && j == first) return first;
    if (blank) continue;
    const qsizetype next = after_space(text, found);
    if (j > first && is_apart && next == found) return first;
    found = next;
    const QStringView left = QStringView(text).mid(found);
    if (word.startsWith(left)) return j + 1;
    if (!left.startsWith(word)) return first;
    found += word.size();
    is_apart = label.back().isSpace();
  }
  return first;
}

}  // namespace

std::vector<IndexRange> find_text(const Sequence& sequence, Index count, const QString& text) {
  std::vector<IndexRange> found;
  // White space at the end is still to be followed by a word.
  const QString words = text.toCaseFolded().trimmed(), wanted = text.trimmed().isEmpty() ? text
                                                                : text.front().isSpace()
                                                                    ? " " + words
                                                                    : words;
  for (Index i = 0; i < count; ++i) {
    const bool alone = folded(sequence.label(i)).contains(wanted);
    const Index end = alone || words.isEmpty() ? i : end_of_text(sequence.tokens, i, words);
    if (alone)
      found.push_back({i, i + 1});
    else if (end > i && end <= count)
      found.push_back({i, end});
  }
  return found;
}

}  // namespace fovea
