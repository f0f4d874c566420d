#include "nodes/node_tables.h"

#include <algorithm>
#include <limits>

#include "planning/planning.h"

namespace fovea::cuda {
namespace {

template <class T>
Buffer<T> upload(const Device& device, const std::vector<T>& values) {
  return {device, std::span<const T>(values)};
}

}  // namespace

NodeTables::NodeTables(const Device& device, const Plan& plan, Run& run)
    : lengths_(plan.lengths), causal_(plan.causal) {
  const auto& nodes = std::get<NodePlan>(plan.form);
  const Device::WaitAtEnd uploaded(device);
  sort_keys(device, nodes, run);
  find(device, nodes, run);
}

NodePairs NodeTables::pairs() const {
  return {.queries = static_cast<std::int32_t>(lengths_.queries),
          .offset = static_cast<std::int32_t>(lengths_.offset()),
          .depths = depths(),
          .causal = causal_,
          .keys = keys_.data(),
          .place = place_.data(),
          .nodes = {query_slot_.data(), query_count_.data(), query_path_.data()}};
}

// First in leaf order, from which the nodes are found, and from them the orders of all depths.
void NodeTables::sort_keys(const Device& device, const NodePlan& nodes, Run& run) {
  const auto n = static_cast<std::size_t>(lengths_.keys);
  const int leaves = static_cast<int>(nodes.branching.size());
  orders_ = {device, n * nodes.alpha.size()};
  std::int32_t* const leaf_order = orders_.data() + leaves * lengths_.keys;
  Buffer<std::uint32_t> key(  // no leaf is negative, so the bits are the same
      device, {reinterpret_cast<const std::uint32_t*>(nodes.key_leaf.data()), n});
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  stable_order(device, key, static_cast<std::int32_t>(std::min(most, leaves_below(nodes).front())),
               leaf_order);
  std::vector<std::int32_t> order(n);
  check(cudaMemcpyAsync(order.data(), leaf_order, n * sizeof(std::int32_t), cudaMemcpyDeviceToHost,
                        device.stream()),
        "downloading");
  device.wait();
  run.check();

  slots_ = number_slots(nodes, order);
  keys_ = upload(device, slots_.keys);
  parent_ = upload(device, slots_.parent);
  place_ = {device, n};
  for (int depth = 0; depth <= leaves; ++depth) {
    place_keys({.n = static_cast<std::int32_t>(lengths_.keys),
                .leaf_order = leaf_order,
                .keys = keys_.data() + slots_.first[depth],
                .slots = slots_.size(depth),
                .slot = key.data(),
                .place = place_.data()},
               device.stream());
    if (depth < leaves)
      stable_order(device, key, slots_.size(depth), orders_.data() + depth * lengths_.keys);
  }
}

void NodeTables::find(const Device& device, const NodePlan& nodes, Run& run) {
  run.check();
  const auto cells = static_cast<std::size_t>(lengths_.queries * depths());
  const auto first = upload(device, slots_.first);
  const auto node = upload(device, slots_.node);
  const std::vector<std::int64_t> leaves = leaves_below(nodes);
  const Device::WaitAtEnd uploaded(device);
  const auto below = upload(device, leaves);
  const auto alpha = upload(device, nodes.alpha);
  const auto query_leaf = upload(device, nodes.query_leaf);
  query_slot_ = {device, cells};
  query_count_ = {device, cells};
  query_path_ = {device, cells};
  deepest_ = {device, static_cast<std::size_t>(lengths_.queries)};
  find_queries({.queries = static_cast<std::int32_t>(lengths_.queries),
                .keys_in_all = static_cast<std::int32_t>(lengths_.keys),
                .depths = depths(),
                .causal = causal_,
                .first = first.data(),
                .node = node.data(),
                .keys = keys_.data(),
                .leaves_below = below.data(),
                .alpha = alpha.data(),
                .orders = orders_.data(),
                .query_leaf = query_leaf.data(),
                .found = {query_slot_.data(), query_count_.data(), query_path_.data()},
                .deepest = deepest_.data()},
               device.stream());
}

}  // namespace fovea::cuda
