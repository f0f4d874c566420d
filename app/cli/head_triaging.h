// The work of `fovea heads --triage`: which pattern of sparse prefill each head of a source takes.
#pragma once

#include <string>

#include "cli/commands/commands.h"
#include "cli/exploration.h"
#include "sweep/head_triage.h"

namespace fovea {

struct TriageOptions {
  TriageRule rule;
  std::string output;  // a configuration of MInference; empty if none is wanted
};

/// Throws InputError if no head has q and k of the same tokens, UsageError for an output of heads
/// that MInference cannot run.
void triage_heads(const ExplorationOptions& options, const TriageOptions& triage, bool json,
                  bool csv, const Console& console);

}  // namespace fovea
