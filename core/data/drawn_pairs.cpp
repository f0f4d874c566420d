#include "data/drawn_pairs.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>

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

/// Edges of rectangles within [0, count], ascending, with both ends.
template <class RangeOf>
std::vector<Index> edges_of(const std::vector<DrawnRectangle>& rectangles, Index count,
                            RangeOf range_of) {
  std::vector<Index> edges{0, count};
  for (const DrawnRectangle& its : rectangles)
    for (const Index edge : {range_of(its).begin, range_of(its).end})
      if (edge < count) edges.push_back(edge);
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

/// Which of the keys between two edges are kept. The last rectangle is painted first, and what is
/// painted stays: each piece is passed over from then on.
class PaintedKeys {
 public:
  explicit PaintedKeys(const std::vector<Index>& edges)
      : edges_(edges), state_(edges.size() - 1), next_(edges.size()) {}

  void clear(bool all) {
    state_.assign(state_.size(), all);
    std::iota(next_.begin(), next_.end(), std::size_t{0});
  }
  void paint(IndexRange keys, bool includes) {
    const std::size_t end = place_of(keys.end);
    for (std::size_t at = free_from(place_of(keys.begin)); at < end; at = free_from(at)) {
      state_[at] = includes;
      next_[at] = at + 1;
    }
  }
  std::vector<IndexRange> runs() const {
    std::vector<IndexRange> runs;
    for (std::size_t at = 0; at < state_.size(); ++at) {
      if (!state_[at]) continue;
      if (!runs.empty() && runs.back().end == edges_[at])
        runs.back().end = edges_[at + 1];
      else
        runs.push_back({edges_[at], edges_[at + 1]});
    }
    return runs;
  }

 private:
  /// Keys beyond the head are at its end.
  std::size_t place_of(Index key) const {
    return std::ranges::lower_bound(edges_, std::min(key, edges_.back())) - edges_.begin();
  }
  std::size_t free_from(std::size_t at) {
    std::size_t free = at;
    while (next_[free] != free) free = next_[free];
    while (next_[at] != at) at = std::exchange(next_[at], free);
    return free;
  }

  const std::vector<Index>& edges_;
  std::vector<bool> state_;
  std::vector<std::size_t> next_;  // leads to the first piece from there on that is not painted
};

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
    throw UsageError("pairs: more than " + std::to_string(most) +
                     " rectangles; draw fewer, or in larger blocks");
  rectangles_.push_back(rectangle);
}

Index DrawnPairs::beyond(Lengths lengths) const {
  return std::ranges::count_if(rectangles_, [&](const DrawnRectangle& its) {
    return its.queries.end > lengths.queries || its.keys.end > lengths.keys;
  });
}

std::vector<DrawnRows> DrawnPairs::rows(Lengths lengths) const {
  const std::vector<Index> edges =
      edges_of(rectangles_, lengths.queries, [](const auto& its) { return its.queries; });
  const std::vector<Index> key_edges =
      edges_of(rectangles_, lengths.keys, [](const auto& its) { return its.keys; });
  PaintedKeys painted(key_edges);
  std::vector<DrawnRows> out;
  for (std::size_t e = 0; e + 1 < edges.size(); ++e) {
    const IndexRange queries{edges[e], edges[e + 1]};
    painted.clear(all_);
    for (auto its = rectangles_.rbegin(); its != rectangles_.rend(); ++its)
      if (covers(its->queries, queries)) painted.paint(its->keys, its->includes);
    std::vector<IndexRange> keys = painted.runs();
    if (keys.empty()) continue;
    if (!out.empty() && out.back().queries.end == queries.begin && out.back().keys == keys)
      out.back().queries.end = queries.end;
    else
      out.push_back({queries, std::move(keys)});
  }
  return out;
}

}  // namespace fovea
