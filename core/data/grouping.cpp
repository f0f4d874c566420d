#include "data/grouping.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "data/blocks.h"
#include "data/error.h"
#include "data/number_text.h"
#include "data/utf8.h"

namespace fovea {
namespace {

constexpr std::string_view line_break = "↵";  // as tokens show it

std::string_view without_spaces(std::string_view token) {
  while (token.starts_with(' ')) token.remove_prefix(1);
  while (token.ends_with(' ')) token.remove_suffix(1);
  return token;
}

template <std::size_t count>
bool is_one_of(const std::array<std::string_view, count>& all, std::string_view one) {
  return std::ranges::find(all, one) != all.end();
}

bool is_special(std::string_view token) {
  constexpr std::array<std::string_view, 6> known{"[CLS]", "[SEP]", "<s>",
                                                  "</s>",  "<bos>", "<eos>"};
  return is_one_of(known, token) ||
         (token.size() > 4 && token.starts_with("<|") && token.ends_with("|>"));
}

bool is_punctuation(std::string_view token) {
  constexpr std::array<std::string_view, 10> marks{".", ",",  ";",  ":",  "!",
                                                   "?", "。", "，", "、", line_break};
  token = without_spaces(token);
  if (token.empty()) return false;
  while (!token.empty()) {
    const auto length = first_character(token).length;
    const std::string_view mark = token.substr(0, length);
    if (length == 0 || (mark != " " && !is_one_of(marks, mark))) return false;
    token.remove_prefix(length);
  }
  return true;
}

bool ends_segment(std::string_view token) {
  return is_special(token) && token != "[CLS]" && token != "<s>" && token != "<bos>";
}

bool ends_line(std::string_view token) {
  return token.find(line_break) != std::string_view::npos;
}

bool ends_sentence(std::string_view token) {
  token = without_spaces(token);
  return token == "." || token == "!" || token == "?";
}

/// Parts up to and including each token that ends one, without special tokens at their ends; the
/// last part may lack such a token.
std::vector<Span> parts(const std::vector<std::string>& tokens, const std::string& name,
                        bool (*ends)(std::string_view)) {
  std::vector<Span> out;
  Index begin = 0;
  for (Index i = 0; i < std::ssize(tokens); ++i) {
    if (!ends(tokens[i]) && i + 1 < std::ssize(tokens)) continue;
    IndexRange part{begin, i + 1};
    begin = i + 1;
    while (part.size() > 0 && is_special(tokens[part.begin])) ++part.begin;
    while (part.size() > 0 && is_special(tokens[part.end - 1])) --part.end;
    if (part.size() > 0) out.push_back({name + " " + std::to_string(out.size() + 1), part});
  }
  return out;
}

std::string text_of(const Span& span) {
  return "span " + quoted(span.name) + " of tokens [" + std::to_string(span.tokens.begin) + ", " +
         std::to_string(span.tokens.end) + ")";
}

constexpr std::int32_t none = -1;

/// The groups are the kinds that some token has; those of kind `none` are the other tokens.
Grouping grouping_of_kinds(std::vector<std::string> names, std::vector<std::int32_t> kinds) {
  const auto others = static_cast<std::int32_t>(names.size());
  names.push_back("other tokens");
  std::ranges::replace(kinds, none, others);
  std::vector<std::int32_t> group(names.size(), none);
  for (const std::int32_t kind : kinds) group[kind] = 0;
  Grouping out;
  for (std::size_t kind = 0; kind < names.size(); ++kind) {
    if (group[kind] == none) continue;
    group[kind] = static_cast<std::int32_t>(out.count());
    out.names.push_back(names[kind]);
  }
  for (const std::int32_t kind : kinds) out.group.push_back(group[kind]);
  return out;
}

std::string fault_of(const Span& span, std::optional<Index> n) {
  const std::string name = "“" + printable(span.name) + "”";
  if (span.name.find_first_not_of(' ') == std::string::npos) return "A span needs a name";
  if (printable(span.name) != span.name)
    return "The name " + name + " has characters without a sign";
  if (span.tokens.begin < 0) return name + " begins before token 0";
  if (span.tokens.size() <= 0) return name + " has no token: it ends before it begins";
  if (n && span.tokens.end > *n)
    return name + " ends at token " + std::to_string(span.tokens.end - 1) +
           ", but the last one is " + std::to_string(*n - 1);
  return "";
}

}  // namespace

std::string fault_of(const std::vector<Span>& spans, std::optional<Index> n) {
  std::set<std::string> names;
  for (const Span& span : spans) {
    if (std::string fault = fault_of(span, n); !fault.empty()) return fault;
    if (!names.insert(span.name).second) return "Two spans have the name “" + span.name + "”";
  }
  std::vector<const Span*> order;
  for (const Span& span : spans) order.push_back(&span);
  std::ranges::sort(order, {}, [](const Span* span) { return span->tokens.begin; });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (const Span& one = *order[i - 1], &other = *order[i]; other.tokens.begin < one.tokens.end)
      return "“" + one.name + "” and “" + other.name + "” overlap at token " +
             std::to_string(other.tokens.begin);
  return "";
}

Grouping grouping_of_spans(Index n, const std::vector<Span>& spans) {
  std::vector<std::string> names;
  std::vector<std::int32_t> kinds(n, none);
  for (const Span& span : spans) {
    if (span.tokens.begin < 0 || span.tokens.size() <= 0 || span.tokens.end > n)
      throw InputError(
          "", text_of(span) + "; expected at least one token of [0, " + std::to_string(n) + ")");
    const auto kind = static_cast<std::int32_t>(names.size());
    for (Index i = span.tokens.begin; i < span.tokens.end; ++i) {
      if (kinds[i] != none)
        throw InputError("", text_of(span) + " meets " + text_of(spans[kinds[i]]) + " at token " +
                                 std::to_string(i) + "; expected disjoint spans");
      kinds[i] = kind;
    }
    names.push_back(span.name);
  }
  return grouping_of_kinds(names, kinds);
}

std::vector<Span> with_frames(std::vector<Span> spans, Index n, Index tokens) {
  constexpr Index most = 256;  // more parts make no table that one can read
  std::ranges::sort(spans, {}, [](const Span& span) { return span.tokens.begin; });
  std::vector<Span> all;
  Index frames = 0, begin = 0;
  const auto cut = [&](Index end) {
    frames += number_of_blocks(end - begin, tokens);
    if (frames > most)
      throw UsageError("Frames of " + plural(tokens, "token") + " in " + plural(n, "token") +
                       " are more than " + std::to_string(most) + "; expected larger frames");
    for (; begin < end; begin += tokens)
      all.push_back({"", {begin, std::min(begin + tokens, end)}});
  };
  for (Span& span : spans) {
    cut(span.tokens.begin);
    begin = span.tokens.end;
    all.push_back(std::move(span));
  }
  cut(n);
  if (frames == 0) throw UsageError("Every token is in a named span; expected some outside");
  std::set<std::string> taken;
  for (const Span& span : all) taken.insert(span.name);
  Index number = 0;
  for (Span& span : all)
    while (span.name.empty())
      if (const std::string name = "frame " + std::to_string(++number); !taken.contains(name))
        span.name = name;
  return all;
}

Grouping standard_sinks(Index n, const Sequence& sequence) {
  constexpr std::int32_t first = 0, prefix = 1, special = 2, punctuation = 3;
  std::vector<std::int32_t> kinds(n, none);
  for (Index i = 0; i < std::min(n, std::ssize(sequence.tokens)); ++i) {
    const std::string& token = sequence.tokens[i];
    kinds[i] = is_special(token) ? special : is_punctuation(token) ? punctuation : none;
  }
  if (sequence.grid)
    std::fill_n(kinds.begin(), std::min(n, sequence.grid->prefix), prefix);
  else if (n > 0)
    kinds[0] = first;
  return grouping_of_kinds(
      {"first token", "tokens before the patches", "special tokens", "punctuation"}, kinds);
}

std::vector<Span> marked_spans(const Sequence& sequence) {
  const std::vector<std::string>& tokens = sequence.tokens;
  using Kind = std::pair<const char*, bool (*)(std::string_view)>;
  for (const auto& [name, ends] :
       {Kind{"segment", ends_segment}, Kind{"line", ends_line}, Kind{"sentence", ends_sentence}})
    if (std::vector<Span> spans = parts(tokens, name, ends); spans.size() > 1) return spans;
  return {};
}

}  // namespace fovea
