#include "session/session.h"

#include <algorithm>
#include <array>
#include <bit>
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

Values values_for_length(const Variant& variant, Index n) {
  Values values = defaults(variant.schema);
  if (n >= 4096) return values;
  // The papers' sizes are for thousands of tokens; at a few hundred they would all be exact.
  const auto power = [](Index x) {
    return std::bit_floor(static_cast<std::uint64_t>(std::max<Index>(x, 2)));
  };
  const auto set = [&](const char* id, std::uint64_t value) {
    const bool known = std::ranges::find(variant.schema, id, &Field::id) != variant.schema.end();
    if (known) set_value(variant.schema, values, id, std::to_string(value));
  };
  if (variant.id == "h1d") set("block", std::min<std::uint64_t>(16, power(n / 8)));
  if (variant.id == "fixed" || variant.id == "strided") {
    const std::uint64_t stride = std::min<std::uint64_t>(128, power(n / 8));
    set("stride", stride);
    if (variant.id == "fixed")
      set("summary", std::min<std::uint64_t>(8, std::max<std::uint64_t>(1, stride / 8)));
  }
  if (variant.id == "tf" || variant.id == "tc") {
    const int levels = std::bit_width(static_cast<std::uint64_t>(std::max<Index>(n / 16, 1))) - 1;
    set("height", static_cast<std::uint64_t>(std::clamp(levels, 1, 6)));
  }
  if (variant.id == "hyper") {
    set("block", std::min<std::uint64_t>(256, power(n / 8)));
    set("samples", std::min<std::uint64_t>(256, power(n / 8)));
    set("min_length", std::max<std::uint64_t>(1, power(n / 8)));
  }
  return values;
}

Session standard_session(const std::string& source, Index n) {
  Session session;
  session.source = source;
  // Of long heads those that are computed in moments; the others are a click away.
  const auto quick = [](const std::string& id) {
    return id == "exact" || id == "h1d" || id == "hyper";
  };
  for (const Variant& variant : variants())
    if (n <= long_head || quick(variant.id))
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
