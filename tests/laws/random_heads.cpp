#include "laws/random_heads.h"

#include <algorithm>
#include <cmath>

#include "laws/conditions.h"

namespace fovea::test {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t number) : random_(number, 41) {}

  /// From `least` to `most`; small ones as often as large ones.
  Index size(Index least, Index most) {
    const double share = random_.uniform();
    const double low = std::log(static_cast<double>(least) + 1),
                 high = std::log(static_cast<double>(most) + 2);
    return std::clamp(static_cast<Index>(std::exp(low + share * (high - low))) - 1, least, most);
  }
  template <class Item>
  const Item& of(const std::vector<Item>& items) {
    return items[random_.below(items.size())];
  }
  bool one_in(std::uint64_t count) { return random_.below(count) == 0; }
  float normal() { return static_cast<float>(random_.normal()); }
  double uniform() { return random_.uniform(); }

 private:
  Random random_;
};

enum class Rows { normal, large, tiny, few, equal, one_hot, constant, whole, zero };

constexpr std::pair<Rows, const char*> row_kinds[] = {
    {Rows::normal, "normal"},     {Rows::large, "large"},         {Rows::tiny, "denormal"},
    {Rows::few, "duplicates"},    {Rows::equal, "all equal"},     {Rows::one_hot, "one-hot"},
    {Rows::constant, "constant"}, {Rows::whole, "whole numbers"}, {Rows::zero, "zero"}};

/// `large`: the largest magnitude of Rows::large.
Matrix rows_of_kind(Rows kind, Index rows, Index cols, double large, Draw& draw) {
  Matrix m(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    const float of_row = draw.normal();
    const auto hot = static_cast<Index>(draw.uniform() * static_cast<double>(cols));
    for (Index c = 0; c < cols; ++c) {
      const float x = draw.normal();
      switch (kind) {
        case Rows::normal:
          m(i, c) = x;
          break;
        case Rows::large:
          m(i, c) = static_cast<float>(large * (2 * draw.uniform() - 1));
          break;
        case Rows::tiny:
          m(i, c) = x * 1e-40f;
          break;
        case Rows::few:
          m(i, c) = i < 3 ? x : m(i % 3, c);
          break;
        case Rows::equal:
          m(i, c) = i == 0 ? x : m(0, c);
          break;
        case Rows::one_hot:
          m(i, c) = c == hot ? 4.0f : 0.0f;
          break;
        case Rows::constant:
          m(i, c) = of_row;
          break;
        case Rows::whole:
          m(i, c) = std::round(x);
          break;
        case Rows::zero:
          m(i, c) = 0;
          break;
      }
    }
  }
  return m;
}

/// A value from the whole range of the field; sizes mostly within the n tokens.
std::string value_text(const Field& field, Index n, Draw& draw) {
  if (!field.choices.empty()) return draw.of(field.choices);
  if (std::holds_alternative<std::int64_t>(field.standard)) {
    const auto least = static_cast<Index>(field.min);
    Index value = draw.size(least, std::min(static_cast<Index>(field.max), std::max(least, n + 2)));
    if (field.must_be_even && value % 2) value += value < static_cast<Index>(field.max) ? 1 : -1;
    return std::to_string(value);
  }
  if (std::holds_alternative<double>(field.standard)) {
    const double share = draw.uniform();
    return std::to_string(field.axis == Axis::log2 && field.min > 0
                              ? field.min * std::pow(field.max / field.min, share)
                              : field.min + share * (field.max - field.min));
  }
  return to_text(field.standard);
}

/// Redraws some parameters of the case. Choices stay: the formulas know which belong together.
void draw_settings(Case& c, Index n, Draw& draw) {
  for (const Field& field : find_variant(c.id).schema) {
    if (!field.choices.empty() || !draw.one_in(2)) continue;
    const std::string text = value_text(field, n, draw);
    const auto given = std::ranges::find(c.settings, field.id, &Settings::value_type::first);
    if (given == c.settings.end())
      c.settings.emplace_back(field.id, text);
    else
      given->second = text;
  }
}

}  // namespace

RandomHead random_head(std::uint64_t number, Index longest) {
  Draw draw(number);
  RandomHead head;
  head.c = draw.of(cases());
  const Index n = draw.size(1, longest), d = draw.size(1, 96), dv = draw.size(1, 96);
  const auto& [query_rows, query_text] = row_kinds[draw.size(0, 8)];
  auto kind_of_keys = draw.size(0, 8);
  // Means over neighbours among keys that repeat are equal but for their rounding, which would then
  // decide what SnapKV keeps.
  if (head.c.id == "snapkv" && row_kinds[kind_of_keys].first == Rows::few) kind_of_keys = 0;
  const auto& [key_rows, key_text] = row_kinds[kind_of_keys];
  const auto& [value_rows, value_text] = row_kinds[draw.size(0, 8)];
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  // Logits of large rows reach 1e4.
  const double large = std::sqrt(1e4 / (static_cast<double>(d) * scale));
  const bool causal = mask_of(head.c, draw.one_in(2));
  head.problem = make_problem(
      rows_of_kind(query_rows, n, d, large, draw), rows_of_kind(key_rows, n, d, large, draw),
      rows_of_kind(value_rows, n, dv, 1e30, draw), scale, causal, head.c.head);
  const std::vector<ConditionCase> conditions = condition_cases();
  std::string condition;
  if (draw.one_in(3)) {
    const ConditionCase& one = draw.of(conditions);
    Problem with = head.problem;
    one.apply(with);
    if (takes(head.c, with)) {
      head.problem = std::move(with);
      condition = ", " + one.name;
    }
  }
  draw_settings(head.c, n, draw);
  head.text = "head " + std::to_string(number) + ": " + describe(head.c) +
              ", n = " + std::to_string(n) + ", d = " + std::to_string(d) +
              ", dv = " + std::to_string(dv) + (causal ? ", causal" : "") + condition +
              ", queries " + query_text + ", keys " + key_text + ", values " + value_text;
  return head;
}

}  // namespace fovea::test
