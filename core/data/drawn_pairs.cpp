#include "data/drawn_pairs.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

#include "data/error.h"

namespace fovea {
namespace {

/// Sizes of heads are below it, so that sums of two numbers do not overflow.
constexpr Index largest_token = INT32_MAX;

bool covers(IndexRange outer, IndexRange inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

bool covers(const DrawnRectangle& outer, const DrawnRectangle& inner) {
  return covers(outer.queries, inner.queries) && covers(outer.keys, inner.keys);
}

[[noreturn]] void refuse(const std::string& item) {
  throw UsageError("pairs: '" + item +
                   "' is no rectangle; expected queries/keys, such as 0-63/128-191, with ! in "
                   "front to exclude");
}

/// "5" or "0-63".
IndexRange token_range(std::string_view text, const std::string& item) {
  const auto number = [&](std::string_view digits) {
    Index value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0 ||
        value >= largest_token)
      refuse(item);
    return value;
  };
  const std::size_t dash = text.find('-');
  const Index first = number(text.substr(0, dash));
  const Index last = dash == text.npos ? first : number(text.substr(dash + 1));
  if (last < first) refuse(item);
  return {first, last + 1};
}

std::string text_of(IndexRange tokens) {
  const std::string first = std::to_string(tokens.begin);
  return tokens.size() == 1 ? first : first + "-" + std::to_string(tokens.end - 1);
}

/// The runs with `added`, or without it.
std::vector<IndexRange> changed(const std::vector<IndexRange>& runs, IndexRange by, bool includes) {
  std::vector<IndexRange> out;
  bool pending = includes;
  for (const IndexRange& run : runs) {
    if (includes && run.begin <= by.end && by.begin <= run.end) {
      by = {std::min(by.begin, run.begin), std::max(by.end, run.end)};
    } else if (includes) {
      if (pending && by.end < run.begin) {
        out.push_back(by);
        pending = false;
      }
      out.push_back(run);
    } else {
      if (run.begin < by.begin) out.push_back({run.begin, std::min(run.end, by.begin)});
      if (run.end > by.end) out.push_back({std::max(run.begin, by.end), run.end});
    }
  }
  if (pending) out.push_back(by);
  return out;
}

}  // namespace

DrawnPairs DrawnPairs::from_text(const std::string& text) {
  DrawnPairs pairs;
  std::istringstream items(text);
  bool first = true;
  for (std::string item; items >> item; first = false) {
    if (first && item == "all") {
      pairs.all_ = true;
      continue;
    }
    const std::string_view rectangle = std::string_view(item).substr(item.starts_with('!') ? 1 : 0);
    const std::size_t slash = rectangle.find('/');
    if (slash == rectangle.npos) refuse(item);
    pairs.add({.queries = token_range(rectangle.substr(0, slash), item),
               .keys = token_range(rectangle.substr(slash + 1), item),
               .includes = !item.starts_with('!')});
  }
  return pairs;
}

std::string DrawnPairs::text() const {
  std::string text = all_ ? "all" : "";
  for (const DrawnRectangle& its : rectangles_)
    text += (text.empty() ? "" : " ") + std::string(its.includes ? "" : "!") +
            text_of(its.queries) + "/" + text_of(its.keys);
  return text;
}

void DrawnPairs::add(const DrawnRectangle& rectangle) {
  std::erase_if(rectangles_,
                [&](const DrawnRectangle& earlier) { return covers(rectangle, earlier); });
  if (rectangles_.size() >= most)
    throw UsageError("pairs: more than " + std::to_string(most) + " rectangles");
  rectangles_.push_back(rectangle);
}

Index DrawnPairs::beyond(Lengths lengths) const {
  return std::ranges::count_if(rectangles_, [&](const DrawnRectangle& its) {
    return its.queries.end > lengths.queries || its.keys.end > lengths.keys;
  });
}

std::vector<DrawnRows> DrawnPairs::rows(Lengths lengths) const {
  std::vector<Index> edges{0, lengths.queries};
  for (const DrawnRectangle& its : rectangles_)
    for (const Index edge : {its.queries.begin, its.queries.end})
      if (edge < lengths.queries) edges.push_back(edge);
  std::ranges::sort(edges);
  edges.erase(std::ranges::unique(edges).begin(), edges.end());
  std::vector<DrawnRows> out;
  for (std::size_t e = 0; e + 1 < edges.size(); ++e) {
    const IndexRange queries{edges[e], edges[e + 1]};
    std::vector<IndexRange> keys;
    if (all_) keys.push_back({0, lengths.keys});
    for (const DrawnRectangle& its : rectangles_) {
      const IndexRange part = its.keys.intersected({0, lengths.keys});
      if (covers(its.queries, queries) && part.size() > 0) keys = changed(keys, part, its.includes);
    }
    if (keys.empty()) continue;
    if (!out.empty() && out.back().queries.end == queries.begin && out.back().keys == keys)
      out.back().queries.end = queries.end;
    else
      out.push_back({queries, std::move(keys)});
  }
  return out;
}

}  // namespace fovea
