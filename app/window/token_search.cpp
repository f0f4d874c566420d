#include "window/token_search.h"

#include <algorithm>

#include "window/widgets/text.h"

namespace fovea {
namespace {

QString folded(const std::string& label) {
  return to_qt(label).toCaseFolded();
}

/// Where text goes on after white space.
qsizetype after_space(const QString& text, qsizetype at) {
  while (at < text.size() && text[at].isSpace()) ++at;
  return at;
}

/// One past the last of several tokens from `first` on that hold all of `text`; `first` if they do
/// not.
Index end_of_text(const std::vector<std::string>& tokens, Index first, const QString& text) {
  qsizetype found = 0;  // characters of the text
  for (Index j = first; j < std::ssize(tokens); ++j) {
    const QString label = folded(tokens[j]), word = label.trimmed();
    const qsizetype next = after_space(text, found);
    const bool is_apart = j > first && label.startsWith(' ');
    if (is_apart && next == found) return first;
    found = next;
    const QStringView left = QStringView(text).mid(found);
    if (word.startsWith(left)) return j + 1;
    if (word.isEmpty() ? j == first : !left.startsWith(word)) return first;
    found += word.size();
  }
  return first;
}

}  // namespace

std::vector<IndexRange> find_text(const Sequence& sequence, Index count, const QString& text) {
  std::vector<IndexRange> found;
  const QString wanted = text.toCaseFolded(), words = wanted.trimmed();
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
