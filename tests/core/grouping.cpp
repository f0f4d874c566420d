// Tokens in groups: spans, sinks, and the parts that a text marks.
#include "data/grouping.h"

#include <doctest/doctest.h>

#include "data/error.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Tokens = std::vector<std::string>;

/// The name of each token's group.
Tokens names_of(const Grouping& grouping) {
  Tokens out;
  for (const std::int32_t group : grouping.group) out.push_back(grouping.names[group]);
  return out;
}

Tokens texts_of(const std::vector<Span>& spans) {
  Tokens out;
  for (const Span& span : spans)
    out.push_back(span.name + " " + std::to_string(span.tokens.begin) + "-" +
                  std::to_string(span.tokens.end));
  return out;
}

}  // namespace

TEST_CASE("spans are groups in their order, and the tokens of none are the other tokens") {
  const Grouping some = grouping_of_spans(6, {{"question", {4, 5}}, {"document", {1, 3}}});
  CHECK(some.names == Tokens{"question", "document", "other tokens"});
  CHECK(some.group == std::vector<std::int32_t>{2, 1, 1, 2, 0, 2});
  const Grouping all = grouping_of_spans(3, {{"a", {0, 2}}, {"b", {2, 3}}});
  CHECK(all.names == Tokens{"a", "b"});
  CHECK(all.group == std::vector<std::int32_t>{0, 0, 1});
  CHECK(grouping_of_spans(2, {}).names == Tokens{"other tokens"});
}

TEST_CASE("spans that are empty, out of range or meet are refused with their tokens") {
  const auto refusal = [](const std::vector<Span>& spans) {
    return message_of([&] { grouping_of_spans(6, spans); });
  };
  for (const IndexRange bad : {IndexRange{2, 2}, {3, 2}, {-1, 2}, {4, 7}}) {
    const std::string message = refusal({{"a", bad}});
    CAPTURE(message);
    CHECK(message.find("span 'a' of tokens [" + std::to_string(bad.begin)) != std::string::npos);
    CHECK(message.find("expected at least one token of [0, 6)") != std::string::npos);
  }
  const std::string message = refusal({{"a", {0, 3}}, {"b", {4, 5}}, {"c", {2, 4}}});
  CAPTURE(message);
  CHECK(message.find("span 'c' of tokens [2, 4) meets span 'a' of tokens [0, 3) at token 2") !=
        std::string::npos);
}

TEST_CASE("the usual sinks are the first token, special tokens and punctuation") {
  const Sequence bert{.tokens = {"[CLS]", "a", "word", ".", "[SEP]", "x", ",", "[SEP]"}};
  CHECK(names_of(standard_sinks(8, bert)) == Tokens{"first token", "other tokens", "other tokens",
                                                    "punctuation", "special tokens", "other tokens",
                                                    "punctuation", "special tokens"});
  const Sequence gpt{
      .tokens = {"The", " end", ".", "↵↵", "<|endoftext|>", " A", "?!", "3.1", "。", "<|>", " "}};
  CHECK(names_of(standard_sinks(11, gpt)) == Tokens{"first token", "other tokens", "punctuation",
                                                    "punctuation", "special tokens", "other tokens",
                                                    "punctuation", "other tokens", "punctuation",
                                                    "other tokens", "other tokens"});
  // Without tokens only the first is known; only groups that have a token exist.
  CHECK(names_of(standard_sinks(3, {})) == Tokens{"first token", "other tokens", "other tokens"});
  CHECK(standard_sinks(1, {}).names == Tokens{"first token"});
  // In an image it is the class token and the registers, where there are any.
  const Sequence image{.grid = ImageGrid{.rows = 1, .cols = 2, .prefix = 2}};
  CHECK(names_of(standard_sinks(4, image)) == Tokens{"tokens before the patches",
                                                     "tokens before the patches", "other tokens",
                                                     "other tokens"});
  const Sequence patches{.grid = ImageGrid{.rows = 1, .cols = 2}};
  CHECK(standard_sinks(2, patches).names == Tokens{"other tokens"});
}

TEST_CASE("a text is divided by its separators, else by its lines, else by its sentences") {
  const auto spans = [](Tokens tokens) { return texts_of(marked_spans({.tokens = tokens})); };
  CHECK(spans({"[CLS]", "a", ".", "[SEP]", "b", "[SEP]"}) ==
        Tokens{"segment 1 1-3", "segment 2 4-5"});
  CHECK(spans({"<s>", "a", "</s>", "b"}) == Tokens{"segment 1 1-2", "segment 2 3-4"});
  CHECK(spans({"[CLS]", "a", ".", "b", "!", "[SEP]"}) ==
        Tokens{"sentence 1 1-3", "sentence 2 3-5"});
  CHECK(spans({"a", ".↵", "b", ".", "c"}) == Tokens{"line 1 0-2", "line 2 2-5"});
  CHECK(spans({"a", " b", "."}).empty());
  CHECK(spans({}).empty());
}

TEST_CASE("what named spans may not be is said in a sentence") {
  const std::vector<Span> good{{"b", {4, 8}}, {"a", {0, 4}}};
  CHECK(fault_of(good, 8).empty());
  CHECK(fault_of(good).empty());
  CHECK(fault_of(good, 7) == "“b” ends at token 7, but the last one is 6");
  const auto fault = [&](const Span& span) {
    std::vector<Span> spans = good;
    spans.push_back(span);
    return fault_of(spans, 16);
  };
  CHECK(fault({"c", {8, 16}}).empty());
  CHECK(fault({"c", {3, 5}}) == "“a” and “c” overlap at token 3");
  CHECK(fault({"c", {5, 6}}) == "“b” and “c” overlap at token 5");
  CHECK(fault({"c", {9, 9}}) == "“c” has no token: it ends before it begins");
  CHECK(fault({"c", {-1, 2}}) == "“c” begins before token 0");
  CHECK(fault({"a", {9, 10}}) == "Two spans have the name “a”");
  CHECK(fault({"", {9, 10}}) == "A span needs a name");
  CHECK(fault({"a\nb", {9, 10}}) == "The name “a\\nb” has characters without a sign");
}

TEST_CASE("frames fill what lies between spans, and the last of each gap may be cut off") {
  CHECK(texts_of(with_frames({}, 10, 4)) == Tokens{"frame 1 0-4", "frame 2 4-8", "frame 3 8-10"});
  CHECK(texts_of(with_frames({{"b", {7, 8}}, {"a", {0, 2}}}, 12, 3)) ==
        Tokens{"a 0-2", "frame 1 2-5", "frame 2 5-7", "b 7-8", "frame 3 8-11", "frame 4 11-12"});
  CHECK_THROWS_WITH_AS(with_frames({{"all", {0, 5}}}, 5, 2),
                       "Every token is in a named span; expected some outside", UsageError);
  CHECK(texts_of(with_frames({{"frame 1", {2, 4}}}, 6, 2)) ==
        Tokens{"frame 2 0-2", "frame 1 2-4", "frame 3 4-6"});
  CHECK(with_frames({}, 256, 1).size() == 256);
  CHECK_THROWS_WITH_AS(with_frames({}, 257, 1),
                       "Frames of 1 token in 257 tokens are more than 256; expected larger frames",
                       UsageError);
}
