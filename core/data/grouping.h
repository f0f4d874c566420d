// A Grouping says to which one of some named groups each token belongs: the parts of a prompt, or
// the tokens that are usually sinks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/sequence.h"

namespace fovea {

struct Grouping {
  std::vector<std::string> names;   // every group has a token
  std::vector<std::int32_t> group;  // [n], an index into names

  Index n() const { return std::ssize(group); }
  Index count() const { return std::ssize(names); }
};

/// Adjacent tokens with a name: "system prompt", "document 3".
struct Span {
  std::string name;
  IndexRange tokens;
  friend bool operator==(const Span&, const Span&) = default;
};

/// Why these are not valid spans of `n` tokens, as a sentence without its full stop; empty if they
/// are. Names must be different and printable, and spans must not overlap. Without `n` spans may
/// end anywhere.
std::string fault_of(const std::vector<Span>& spans, std::optional<Index> n = {});

/// A group for each span, in their order. Tokens outside of all spans, if there are any, are the
/// last group, "other tokens". Throws InputError if a span is empty, reaches beyond [0, n) or
/// overlaps another one.
Grouping grouping_of_spans(Index n, const std::vector<Span>& spans);

/// The spans, and the tokens outside of them cut into frames of `tokens` tokens, as those of a
/// video: "frame 1" and so on, without the names that spans have, in the order of all tokens. A
/// frame before a span or at the end may have fewer tokens. Throws UsageError if that makes no
/// frame, or more than 256.
std::vector<Span> with_frames(std::vector<Span> spans, Index n, Index tokens);

/// The kinds of tokens that usually are sinks (Clark et al. 2019; Xiao et al. 2023; Sun et al.
/// 2024), as far as they occur, and the other tokens:
/// - "first token"; in an image the "tokens before the patches" instead;
/// - "special tokens": [CLS], [SEP], <s>, </s>, <bos>, <eos> and all of the form <|...|>;
/// - "punctuation": tokens of nothing but . , ; : ! ? 。 ， 、, line breaks and spaces. The last
/// two need the tokens of the sequence.
Grouping standard_sinks(Index n, const Sequence& sequence);

/// The parts of a text that its tokens mark, by the first of these that divides it: "segment 1" up
/// to a special token other than [CLS], <s> and <bos>; "line 1" up to a line break; "sentence 1" up
/// to a token of . ! or ? (the point of a number ends one too). What ends a part belongs to it, but
/// special tokens at its ends do not. Empty where nothing divides the text or it has no tokens.
std::vector<Span> marked_spans(const Sequence& sequence);

}  // namespace fovea
