// The panels of a tree that learns: its error, the pairs that meet in its leaves, and how keys
// spread over them (Treeformer, Figure 4), over the steps of learning.
#pragma once

#include "learning/trainer.h"
#include "panels/panel.h"

namespace fovea {

/// How many keys the leaves of a tree hold.
struct LeafSnapshot {
  Index step = 0;
  std::vector<Index> keys;  // of every leaf that holds any, falling
  friend bool operator==(const LeafSnapshot&, const LeafSnapshot&) = default;
};

/// What the window shows of learning.
struct LearningRecord {
  Index tokens = 0;  // of the head
  Index leaves = 0;
  double cost_limit = 0;  // of chi * leaves
  MeasuredTree start;     // step 0
  std::vector<CurvePoint> curve;
  std::vector<LeafSnapshot> snapshots;  // ascending

  /// Adds a snapshot, and thins out those before it if there are too many to tell apart.
  void add(LeafSnapshot snapshot);
};

/// Panels of error, pairs, effective leaves and leaf sizes.
std::vector<Panel> make_panels(const LearningRecord& record);

}  // namespace fovea
