// A search for text in the tokens of a sequence: in one token, or in several that follow each
// other, as tokenizers divide words.
#pragma once

#include <QString>
#include <vector>

#include "data/sequence.h"

namespace fovea {

/// The tokens [begin, end) that hold a text, for each place where they do, in order. The first
/// `count` positions are searched; case does not matter. A text in several tokens begins with the
/// first of them. White space between tokens may be left out where the tokens do not have it.
std::vector<IndexRange> find_text(const Sequence& sequence, Index count, const QString& text);

}  // namespace fovea
