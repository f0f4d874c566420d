// Imported results are what another program computed from the queries, keys and values of a layer:
// the output of a kernel or of the model itself, and its weights if they are known.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "data/head_tensor.h"
#include "data/lengths.h"
#include "data/pair_mask.h"

namespace fovea {

/// As the file holds it. Without z there is no result.
struct ImportedTensors {
  std::string name;      // "flash" of layer3.flash.z; empty for layer3.z
  HeadTensor z;          // [H, nq, dv]
  HeadTensor lse;        // [H, nq, 1], natural logarithms
  HeadTensor p;          // [H, nq, nk]
  HeadTensor kept;       // [1 or H, ceil(nq / block), ceil(nk / block)]: 0 where no pair counts
  Index kept_block = 1;  // queries and keys a side of one entry of `kept`
};

/// The results of one head. They are read when they are asked for.
struct ImportedResults {
  std::vector<ImportedTensors> all;  // at least one
  Index head = 0;

  /// An empty name means the first result. Throws UsageError with the names that exist.
  const ImportedTensors& named(const std::string& name) const;
};

/// One result of one head, read.
struct ImportedResult {
  std::string name;
  ElementType type = ElementType::f32;  // of z in its file
  Matrix z;                             // [nq, dv]
  std::vector<float> lse;               // [nq]; empty if not known
  Matrix p;                             // [nq, nk]; empty if not known
};

/// Throws what HeadTensor::read does.
ImportedResult read_imported(const ImportedTensors& tensors, Index head,
                             const std::stop_token& stop = {});

/// The pairs that `tensors.kept` keeps and `mask` admits (null admits all), for a head of these
/// lengths. Throws UnavailableError if they do not fit into memory, and what HeadTensor::read
/// throws.
std::shared_ptr<const PairMask> kept_pairs(const ImportedTensors& tensors, Index head,
                                           Lengths lengths,
                                           const std::shared_ptr<const PairMask>& mask,
                                           const std::stop_token& stop = {});

}  // namespace fovea
