#include "drawing/prepared.h"

#include <algorithm>
#include <functional>

namespace fovea::drawing {
namespace {

LeafOrder order_of(const LeafSizes& leaves) {
  LeafOrder order;
  order.count = std::max(leaves.queries.size(), leaves.keys.size());
  order.sums.assign(order.count + 1, 0);
  for (std::size_t leaf = 0; leaf < order.count; ++leaf) {
    const Index queries = leaf < leaves.queries.size() ? leaves.queries[leaf] : 0;
    const Index keys = leaf < leaves.keys.size() ? leaves.keys[leaf] : 0;
    order.sums[leaf + 1] = order.sums[leaf] + queries + keys;
    order.most = std::max({order.most, queries, keys});
    order.keys += keys;
  }
  order.sorted_queries = leaves.queries;
  order.sorted_keys = leaves.keys;
  std::ranges::sort(order.sorted_queries, std::greater<>());
  std::ranges::sort(order.sorted_keys, std::greater<>());
  return order;
}

}  // namespace

PreparedPanel::PreparedPanel(const Panel& of) : panel(&of) {
  if (const auto* raster = std::get_if<Raster>(&of.body)) contents = contents_of(*raster);
  if (const auto* sizes = std::get_if<LeafSizes>(&of.body)) leaves = order_of(*sizes);
}

}  // namespace fovea::drawing
