#include "variants/sinks.h"

#include <algorithm>

namespace fovea {
namespace {

void leave_out(Pass& pass, Index sinks) {
  const bool in_sequence = pass.cols.empty();
  std::vector<std::int32_t> kept;
  std::vector<Index> before{0};  // [positions + 1] columns kept before each position
  for (const std::int32_t col : pass.cols) {
    if (col >= sinks) kept.push_back(col);
    before.push_back(std::ssize(kept));
  }
  const auto moved = [&](Index position) {
    return in_sequence ? std::max(position, sinks) : before[static_cast<std::size_t>(position)];
  };
  for (Tile& tile : pass.tiles) tile.cols = {moved(tile.cols.begin), moved(tile.cols.end)};
  std::erase_if(pass.tiles, [](const Tile& tile) { return tile.cols.size() <= 0; });
  pass.cols = std::move(kept);
}

}  // namespace

void add_sinks(std::vector<Pass>& passes, Index sinks, Index n, bool causal) {
  sinks = std::min(sinks, n);
  if (sinks == 0) return;
  for (Pass& pass : passes) leave_out(pass, sinks);
  std::erase_if(passes, [](const Pass& pass) { return pass.tiles.empty(); });
  passes.push_back({.tiles = {{{0, n}, {0, sinks}, causal ? Band{.lo = 0} : Band{}}}});
}

}  // namespace fovea
