#include "session/session.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace fovea {
namespace {

constexpr std::array<std::pair<View, const char*>, 9> view_names{{{View::heatmap, "heatmap"},
                                                                  {View::error, "error"},
                                                                  {View::mask, "mask"},
                                                                  {View::rank, "rank"},
                                                                  {View::level, "level"},
                                                                  {View::tree, "tree"},
                                                                  {View::row, "row"},
                                                                  {View::output, "output"},
                                                                  {View::cost, "cost"}}};
constexpr std::array<std::pair<ErrorKind, const char*>, 5> error_names{
    {{ErrorKind::signed_difference, "signed"},
     {ErrorKind::absolute, "absolute"},
     {ErrorKind::squared, "squared"},
     {ErrorKind::relative, "relative"},
     {ErrorKind::log10_absolute, "log10"}}};
constexpr std::array<std::pair<Norm, const char*>, 3> norm_names{
    {{Norm::linear, "linear"}, {Norm::log, "log"}, {Norm::row_max, "row-max"}}};
constexpr std::array<std::pair<RankColour, const char*>, 2> rank_colour_names{
    {{RankColour::rank, "rank"}, {RankColour::storage, "storage"}}};

constexpr std::array<std::pair<View, const char*>, 9> view_labels{{{View::heatmap, "Attention P"},
                                                                   {View::error, "Error"},
                                                                   {View::mask, "Mask"},
                                                                   {View::rank, "Rank"},
                                                                   {View::level, "Level"},
                                                                   {View::tree, "Tree"},
                                                                   {View::row, "Row"},
                                                                   {View::output, "Output"},
                                                                   {View::cost, "Cost"}}};
constexpr std::array<std::pair<ErrorKind, const char*>, 5> error_labels{
    {{ErrorKind::signed_difference, "signed"},
     {ErrorKind::absolute, "absolute"},
     {ErrorKind::squared, "squared"},
     {ErrorKind::relative, "relative"},
     {ErrorKind::log10_absolute, "log10 of absolute"}}};
constexpr std::array<std::pair<Norm, const char*>, 3> norm_labels{
    {{Norm::linear, "linear"}, {Norm::log, "logarithmic"}, {Norm::row_max, "per row maximum"}}};
constexpr std::array<std::pair<RankColour, const char*>, 2> rank_colour_labels{
    {{RankColour::rank, "by rank"}, {RankColour::storage, "by storage"}}};

template <class Names, class T>
std::string name_in(const Names& names, T value) {
  for (const auto& [known, name] : names)
    if (known == value) return name;
  return "";
}

template <class T, class Names>
std::optional<T> find_in(const Names& names, const std::string& text) {
  for (const auto& [known, name] : names)
    if (text == name) return known;
  return std::nullopt;
}

}  // namespace

const ColourRange* ViewSettings::range_of(View view, int column) const {
  const auto it = std::ranges::find_if(
      ranges, [&](const ColourRange& r) { return r.view == view && r.column == column; });
  return it == ranges.end() ? nullptr : &*it;
}

void ViewSettings::choose_range(const ColourRange& range) {
  reset_range(range.view, range.column);
  ranges.push_back(range);
}

void ViewSettings::reset_range(View view, int column) {
  std::erase_if(ranges, [&](const ColourRange& r) { return r.view == view && r.column == column; });
}

bool ViewSettings::hides(const std::string& name) const {
  return std::ranges::find(hidden, name) != hidden.end();
}

void ViewSettings::hide(const std::string& name, bool on) {
  std::erase(hidden, name);
  if (on) hidden.push_back(name);
}

std::string to_text(View view) {
  return name_in(view_names, view);
}
std::string to_text(ErrorKind kind) {
  return name_in(error_names, kind);
}
std::string to_text(Norm norm) {
  return name_in(norm_names, norm);
}
std::string to_text(RankColour colour) {
  return name_in(rank_colour_names, colour);
}
std::string label_of(View view) {
  return name_in(view_labels, view);
}
std::string label_of(ErrorKind kind) {
  return name_in(error_labels, kind);
}
std::string label_of(Norm norm) {
  return name_in(norm_labels, norm);
}
std::string label_of(RankColour colour) {
  return name_in(rank_colour_labels, colour);
}
std::optional<RankColour> rank_colour_from(const std::string& text) {
  return find_in<RankColour>(rank_colour_names, text);
}
std::optional<View> view_from(const std::string& text) {
  return find_in<View>(view_names, text);
}
std::optional<Norm> norm_from(const std::string& text) {
  return find_in<Norm>(norm_names, text);
}
std::optional<ErrorKind> error_kind_from(const std::string& text) {
  return find_in<ErrorKind>(error_names, text);
}

ComputeRequest request_of(const Column& column) {
  return {.variant = &find_variant(column.variant),
          .values = column.values,
          .seed = column.seed,
          .repeats = 0};
}

IndexRange visible_tokens(double begin, double end, Index n) {
  const IndexRange tokens{static_cast<Index>(std::clamp(std::floor(begin), 0.0, double(n))),
                          static_cast<Index>(std::clamp(std::ceil(end), 0.0, double(n)))};
  return tokens.size() > 0 ? tokens : IndexRange{0, n};
}

Values values_for_length(const Variant& variant, Index n) {
  Values values = defaults(variant.schema);
  if (n >= default_length) return values;
  for (std::size_t f = 0; f < values.size(); ++f)
    if (variant.schema[f].for_short_head) values[f] = variant.schema[f].for_short_head(n);
  return values;
}

std::vector<int> continued_columns(const std::vector<Column>& before,
                                   const std::vector<Column>& after) {
  std::vector<int> from(after.size(), -1);
  std::vector<bool> taken(before.size(), false);
  for (std::size_t i = 0; i < after.size(); ++i)
    for (std::size_t k = 0; k < before.size(); ++k)
      if (from[i] < 0 && !taken[k] && before[k] == after[i]) {
        from[i] = static_cast<int>(k);
        taken[k] = true;
      }
  for (std::size_t i = 0; i < std::min(after.size(), before.size()); ++i)
    if (from[i] < 0 && !taken[i] && before[i].variant == after[i].variant)
      from[i] = static_cast<int>(i);
  return from;
}

Session standard_session(const std::string& source, Index n) {
  Session session;
  session.source = source;
  // Of long heads those that are computed in moments; the others are a click away.
  for (const Variant& variant : variants())
    if (n <= long_head || variant.quick)
      session.columns.push_back({.variant = variant.id, .values = values_for_length(variant, n)});
  constexpr Index quick_ranks = 1024;  // longer heads are decomposed for many seconds
  session.views = {View::heatmap, View::error, View::mask,
                   n <= quick_ranks ? View::rank : View::row};
  // Some sixteen tiles a side, rank leaves too, of short texts.
  const auto sixteenth = static_cast<Index>(
      std::bit_floor(static_cast<std::uint64_t>(std::clamp<Index>(n / 16, 2, 16))));
  session.settings.mask_block = session.settings.rank_leaf = sixteenth;
  session.viewport = {0, static_cast<double>(n), 0, static_cast<double>(n)};
  return session;
}

}  // namespace fovea
