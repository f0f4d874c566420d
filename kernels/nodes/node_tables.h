// NodeTables are NodeSlots on the device, with the place of every query and key in the tree.
#pragma once

#include "backend/profile.h"
#include "device/buffer.h"
#include "nodes/node_entries.h"
#include "plan/node_slots.h"

namespace fovea::cuda {

class NodeTables {
 public:
  NodeTables(const Device& device, const Plan& plan, Run& run);

  const NodeSlots& slots() const { return slots_; }
  int depths() const { return slots_.depths(); }

  const Range32* keys() const { return keys_.data(); }             // as in NodeSlots
  const std::int32_t* parent() const { return parent_.data(); }    // as in NodeSlots
  const std::int32_t* deepest() const { return deepest_.data(); }  // as in SearchArgs
  const std::int32_t* order(int depth) const { return orders_.data() + depth * lengths_.keys; }
  const std::int32_t* query_slot() const { return query_slot_.data(); }    // as in QueryNodes
  const std::int32_t* query_count() const { return query_count_.data(); }  // as in QueryNodes
  NodePairs pairs() const;

 private:
  void sort_keys(const Device& device, const NodePlan& nodes, Run& run);
  void find(const Device& device, const NodePlan& nodes, Run& run);

  Lengths lengths_;
  bool causal_;
  NodeSlots slots_;
  Buffer<Range32> keys_;
  Buffer<std::int32_t> parent_;
  Buffer<std::int32_t> orders_;  // [depths, nk] keys by node, those of a node in sequence order
  Buffer<std::int32_t> place_;   // [nk] of every key its position in leaf order
  Buffer<std::int32_t> query_slot_, query_count_, deepest_;
  Buffer<float> query_path_;
};

}  // namespace fovea::cuda
