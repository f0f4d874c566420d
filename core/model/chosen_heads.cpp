#include "model/chosen_heads.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "data/error.h"
#include "data/text.h"
#include "data/utf8.h"

namespace fovea {
namespace {

constexpr char expected[] =
    R"(; expected "all", layers such as 25-29, or heads such as 3.1,4.*,5.0-3)";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == text.npos ? std::string_view() : text.substr(first, last - first + 1);
}

/// "*", "3" or "3-5" as a range of `count` things.
IndexRange range_in(std::string_view text, Index count, const char* things,
                    std::string_view whole) {
  if (text == "*") return {0, count};
  const auto refuse = [&] {
    return UsageError("the heads are " + quoted(whole) + ", of which " + quoted(text) +
                      " is no number and no range" + expected);
  };
  const auto number = [&](std::string_view digits) {
    Index value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() ||
        value < 0 || digits.front() == '-')
      throw refuse();
    if (value >= count)
      throw UsageError("the heads are " + quoted(whole) + "; the model has the " + things +
                       " 0 to " + std::to_string(count - 1));
    return value;
  };
  const auto dash = text.find('-');
  const Index first = number(text.substr(0, dash));
  const Index last = dash == text.npos ? first : number(text.substr(dash + 1));
  if (last < first) throw refuse();
  return {first, last + 1};
}

/// The runs of whole numbers below `end` for which `is_in` holds.
std::vector<IndexRange> runs_below(Index end, const auto& is_in) {
  std::vector<IndexRange> runs;
  for (Index i = 0; i < end; ++i) {
    if (!is_in(i)) continue;
    if (runs.empty() || runs.back().end < i)
      runs.push_back({i, i + 1});
    else
      ++runs.back().end;
  }
  return runs;
}

std::string run_text(IndexRange run) {
  const std::string first = std::to_string(run.begin);
  return run.size() == 1 ? first : first + "-" + std::to_string(run.end - 1);
}

}  // namespace

ChosenHeads::ChosenHeads(Index layers, Index heads) : heads_(heads), chosen_(layers * heads) {}

ChosenHeads::ChosenHeads(std::string_view text, Index layers, Index heads)
    : ChosenHeads(layers, heads) {
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    std::string_view item = trimmed(rest.substr(0, comma));
    if (item == "all") item = "*";
    const auto dot = item.find('.');
    const IndexRange its_layers = range_in(item.substr(0, dot), layers, "layers", text);
    const IndexRange its_heads = dot == item.npos
                                     ? IndexRange{0, heads}
                                     : range_in(item.substr(dot + 1), heads, "heads", text);
    for (Index layer = its_layers.begin; layer < its_layers.end; ++layer)
      for (Index head = its_heads.begin; head < its_heads.end; ++head) choose(layer, head);
    if (comma == rest.npos) return;
    rest.remove_prefix(comma + 1);
  }
}

Index ChosenHeads::first_layer() const {
  return (std::ranges::find(chosen_, true) - chosen_.begin()) / heads_;
}

Index ChosenHeads::size() const {
  return std::ranges::count(chosen_, true);
}

bool ChosenHeads::meets(const ChosenHeads& other) const {
  for (std::size_t i = 0; i < chosen_.size(); ++i)
    if (chosen_[i] && other.chosen_[i]) return true;
  return false;
}

std::string ChosenHeads::text() const {
  const auto whole = [&](Index layer) {
    const auto first = chosen_.begin() + layer * heads_;
    return std::all_of(first, first + heads_, [](bool chosen) { return chosen; });
  };
  std::string layers_text, heads_text;
  for (const IndexRange& run : runs_below(layers(), whole))
    add_item(layers_text, run_text(run), ",");
  for (Index layer = 0; layer < layers(); ++layer) {
    if (whole(layer)) continue;
    for (const IndexRange& run : runs_below(heads_, [&](Index head) { return has(layer, head); }))
      add_item(heads_text, std::to_string(layer) + "." + run_text(run), ",");
  }
  if (layers_text == run_text({0, layers()})) return "all";
  if (!heads_text.empty()) add_item(layers_text, heads_text, ",");
  return layers_text;
}

}  // namespace fovea
