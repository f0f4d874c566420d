// Imported results are what another program computed from the queries, keys and values of a layer:
// the output of a kernel or of the model itself, its weights, or the pairs that it keeps.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "data/head_tensor.h"
#include "data/selection.h"

namespace fovea {

/// What another program computed from the gradient of a loss by z: the gradients by q, k and v.
struct GradientTensors {
  HeadTensor dz;      // [H, nq, dv], given; "do" in files, too
  HeadTensor dq, dk;  // [H, nq, d], [H, nk, d]; dk and dv may be of the heads of the keys
  HeadTensor dv;      // [H, nk, dv]

  bool present() const { return dz.present() && (dq.present() || dk.present() || dv.present()); }
  /// The type of the gradients.
  ElementType type() const { return dq.present() ? dq.type : dk.present() ? dk.type : dv.type; }
};

/// As the file holds it: at least z, p, kept or gradients. If runs are given without z, the first
/// of them is z.
struct ImportedTensors {
  std::string name;                     // "flash" of layer3.flash.z; empty for layer3.z
  HeadTensor z;                         // [H, nq, dv]
  std::vector<HeadTensor> z_runs = {};  // outputs of more runs on the same input, as z
  HeadTensor lse;                       // [H, nq, 1], natural logarithms
  HeadTensor p;                         // [H, nq, nk]
  SelectionTensors kept = {};           // the pairs with weight
  GradientTensors gradients = {};

  bool present() const {
    return z.present() || p.present() || kept.present() || gradients.present();
  }
};

/// The results of one head. They are read when they are asked for.
struct ImportedResults {
  std::vector<ImportedTensors> all;  // at least one
  Index head = 0;
  Index heads = 1;            // of the layer
  HeadTensor k = {}, v = {};  // of the layer: results may be of another head's

  /// An empty name means the first result. Throws UsageError with the names that exist.
  const ImportedTensors& named(const std::string& name) const;
};

/// One result of one head, read.
struct ImportedResult {
  std::string name;
  ElementType type = ElementType::f32;  // of z in its file
  Matrix z;                             // [nq, dv]; empty if not known
  std::vector<float> lse;               // [nq]; empty if not known
  Matrix p;                             // [nq, nk]; empty if not known
};

/// Throws what HeadTensor::read does.
ImportedResult read_imported(const ImportedTensors& tensors, Index head,
                             const std::stop_token& stop = {});

}  // namespace fovea
