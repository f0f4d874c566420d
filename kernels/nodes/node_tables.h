// NodeTables are a NodePlan on the device: the nodes that hold keys, and where every query and key
// is in the tree.
#pragma once

#include "backend/profile.h"
#include "device/buffer.h"
#include "nodes/node_entries.h"
#include "nodes/node_slots.h"

namespace fovea::cuda {

class NodeTables {
 public:
  NodeTables(const Device& device, const Plan& plan, Run& run);

  const NodeSlots& slots() const { return slots_; }
  int depths() const { return slots_.depths(); }

  const Range* keys() const { return keys_.data(); }               // as in NodeSlots
  const std::int32_t* parent() const { return parent_.data(); }    // as in NodeSlots
  const std::int32_t* deepest() const { return deepest_.data(); }  // as in SearchArgs
  const std::int32_t* order(int depth) const { return orders_.data() + depth * n_; }
  const std::int32_t* query_slot(int depth) const { return query_slot_.data() + depth * n_; }
  const std::int32_t* query_count(int depth) const { return query_count_.data() + depth * n_; }
  NodePairs pairs() const;

 private:
  void sort_keys(const Device& device, const NodePlan& nodes, Run& run);
  void find(const Device& device, const NodePlan& nodes, Run& run);

  Index n_;
  bool causal_;
  NodeSlots slots_;
  Buffer<Range> keys_;
  Buffer<std::int32_t> parent_;
  Buffer<std::int32_t> orders_;  // [depths, n] keys by node, those of a node in sequence order
  Buffer<std::int32_t> place_;   // [n] of every key its position in leaf order
  Buffer<std::int32_t> query_slot_, query_count_, deepest_;
  Buffer<float> query_path_;
};

}  // namespace fovea::cuda
