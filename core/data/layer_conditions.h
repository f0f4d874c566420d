// LayerConditions are what a file says, beside Q, K and V, about how the model computes the heads
// of a layer. Every part may be missing.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/compressed_entries.h"
#include "data/conditions.h"
#include "data/head_tensor.h"
#include "data/problem.h"

namespace fovea {

/// The gates of heads that are a recurrence.
struct RecurrenceTensors {
  HeadTensor beta;               // [H, n, 1] or none
  HeadTensor log_decay;          // [H, n, 1 or d] or none
  HeadTensor level_weights;      // [H, n, levels] or none
  std::optional<bool> erases;    // what metadata say
  bool before_the_norm = false;  // q and k are to be divided by their lengths

  /// It erases if metadata say so, or if they say nothing and there is a beta.
  bool has_delta_rule() const { return erases.value_or(beta.present()); }
  bool present() const {
    return beta.present() || log_decay.present() || level_weights.present() || erases;
  }
};

struct LayerConditions : HeadConditions {
  std::vector<std::int32_t> documents;  // [nk] of each key, 0 or more
  std::vector<float> alibi;             // [H] slopes: S_ij += slope (j - t), t = i + nk - nq
  std::vector<float> sinks;             // [H]
  HeadTensor mask;                      // [1 or H, 1 or nq, nk]: 0 where a pair does not count
  HeadTensor bias;                      // the same shapes, added to the logits
  RecurrenceTensors recurrence;
  std::shared_ptr<const CompressedEntries> compressed;  // null: all keys are tokens
  SelectionTensors chosen_entries;                      // of each query; all unless it is present

  /// "a sliding window of 4096, a mask of pairs, sinks"; empty if none of them.
  std::string text() const;
};

/// The conditions of a head as it is computed.
HeadConditions conditions_of(const Problem& problem);

/// Them and its mask and rule as text: ", sliding window 4096, soft cap 50, sink".
std::string conditions_text(const Problem& problem);

/// Gives the head its mask, its rule and its recurrence; window and soft cap are set by the caller.
/// With compressed entries, the causal mask and the window go into the mask, too. Query i belongs
/// to the document of key i + nk - nq. `where` names the layer in messages. Numbers of the bias
/// that are -Inf, or below -1e30, which fp32 cannot add to a logit, exclude their pairs. Throws
/// InputError for biases and gates that are not numbers, for a recurrence with other conditions
/// than a causal mask and a scale, and for compressed entries beside documents, ALiBi or a
/// recurrence, or chosen out of range; UnavailableError when there is too little memory; Cancelled.
void add_conditions(Problem& problem, const LayerConditions& conditions, double soft_cap,
                    const std::string& where, const std::stop_token& stop = {});

}  // namespace fovea
