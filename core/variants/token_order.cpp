#include "variants/token_order.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <sstream>
#include <utility>

#include "data/error.h"
#include "data/utf8.h"

namespace fovea {
namespace {

/// A number for each cell, by which cells are sorted.
std::uint64_t place_along(const TokenOrder& order, const TokenGrid& grid, TokenGrid::Place at) {
  const auto number = [](Index x) { return static_cast<std::uint32_t>(x); };
  if (order.path == TokenOrder::Path::hilbert) {
    const int axes = grid.frames() > 1 ? 3 : 2;
    const auto longest =
        number(std::max({grid.height(), grid.width(), axes == 3 ? grid.frames() : Index{1}}));
    return hilbert_place({number(at.row), number(at.column), number(at.frame)}, axes,
                         std::max(1, static_cast<int>(std::bit_width(longest - 1))));
  }
  return static_cast<std::uint64_t>(FrameTiles(order, grid).tile_of(at));
}

}  // namespace

std::vector<TypedField<TokenOrder>> TokenOrder::fields() {
  using P = TokenOrder;
  std::vector<TypedField<P>> all{
      choice_field("path", "Path", &P::path, {"hilbert", "tiles"},
                   "hilbert: along a Hilbert curve through the frames. tiles: tile by tile, and in "
                   "a tile as before.")};
  for (auto& field : tile_fields<P>()) {
    field.field.only_with = {{"path", "tiles"}};
    all.push_back(std::move(field));
  }
  for (auto& field : grid_fields<P>()) all.push_back(std::move(field));
  return all;
}

const Schema& order_schema() {
  static const Schema schema = [] {
    Schema made;
    for (auto& field : TokenOrder::fields()) made.push_back(std::move(field.field));
    return made;
  }();
  return schema;
}

Values parse_order(const std::string& text, Values values) {
  std::stringstream in(text + ",");  // an item ends with a comma, the last one too
  std::string item;
  std::getline(in, item, ',');
  set_value(order_schema(), values, "path", item);
  while (std::getline(in, item, ',')) {
    const std::size_t at = item.find('=');
    if (at == item.npos || item.starts_with("path="))
      throw UsageError("order " + quoted(text) + ": " + quoted(item) +
                       "; expected NAME=VALUE, such as height=30");
    set_value(order_schema(), values, item.substr(0, at), item.substr(at + 1));
  }
  return values;
}

std::string order_text(const Values& values, const Values& standard) {
  const Schema& schema = order_schema();
  std::string text = to_text(values.front());
  for (std::size_t f = 1; f < schema.size(); ++f)
    if (is_used(schema[f], schema, values) && values[f] != standard[f])
      text += "," + schema[f].id + "=" + to_text(values[f]);
  return text;
}

TokenOrder order_of(const Values& values) {
  return typed_values(TokenOrder::fields(), values);
}

std::vector<std::int32_t> tokens_in_order(const TokenOrder& order, Index n) {
  const TokenGrid grid(order, n);
  const IndexRange cells = grid.cells();
  std::vector<std::uint64_t> places(static_cast<std::size_t>(n));
  for (Index i = cells.begin; i < cells.end; ++i)
    places[static_cast<std::size_t>(i)] = place_along(order, grid, grid.place(i));
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(n));
  std::iota(tokens.begin(), tokens.end(), 0);
  std::stable_sort(tokens.begin() + cells.begin, tokens.begin() + cells.end,
                   [&](std::int32_t a, std::int32_t b) {
                     return places[static_cast<std::size_t>(a)] <
                            places[static_cast<std::size_t>(b)];
                   });
  return tokens;
}

std::uint64_t hilbert_place(std::array<std::uint32_t, 3> cell, int axes, int bits) {
  const std::uint32_t highest = 1u << (bits - 1);
  // Undoes the turns and reflections of the curve within each half, from the largest on.
  for (std::uint32_t half = highest; half > 1; half >>= 1) {
    const std::uint32_t below = half - 1;
    for (int a = 0; a < axes; ++a) {
      auto& x = cell[static_cast<std::size_t>(a)];
      if (x & half) {
        cell[0] ^= below;
      } else {
        const std::uint32_t swapped = (cell[0] ^ x) & below;
        cell[0] ^= swapped;
        x ^= swapped;
      }
    }
  }
  // The cell is then a Gray code, bit by bit.
  for (int a = 1; a < axes; ++a)
    cell[static_cast<std::size_t>(a)] ^= cell[static_cast<std::size_t>(a - 1)];
  std::uint32_t flipped = 0;
  for (std::uint32_t half = highest; half > 1; half >>= 1)
    if (cell[static_cast<std::size_t>(axes - 1)] & half) flipped ^= half - 1;
  std::uint64_t place = 0;
  for (int bit = bits - 1; bit >= 0; --bit)
    for (int a = 0; a < axes; ++a)
      place = place << 1 | (((cell[static_cast<std::size_t>(a)] ^ flipped) >> bit) & 1u);
  return place;
}

}  // namespace fovea
