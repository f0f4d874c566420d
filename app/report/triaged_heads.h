// Triaged heads as files: the pattern of each head, and the configuration that MInference reads.
#pragma once

#include <string>
#include <vector>

#include "data/source.h"
#include "report/json_output.h"
#include "sweep/head_triage.h"

namespace fovea {

struct TriagedHeadRow {
  Index layer = 0, head = 0;
  std::string layer_label;
  TriagedHead triage;
};

/// "12 streaming, 30 vertical-slash, 2 block, 4 full".
std::string counts_text(const std::vector<TriagedHeadRow>& heads);

/// "≈ 0.912 ± 0.004"; without the signs if no rows were sampled.
std::string recall_text(const Estimate& recall);
/// Which patterns are as good, and whether the error leaves open that its pattern is worth using.
std::string remark_of(const TriagedHead& head, const TriageRule& rule);
/// What to know of heads that are short for sparse prefill; empty if none is.
std::string short_note(const std::vector<TriagedHeadRow>& heads);

/// {"budget", "keep", "counts": {"streaming", ...}, "heads": [{layer, layer_label, head, n, rows,
/// causal, pattern, recall, pairs, as_good, near_keep, patterns}]}. `patterns` has for each of
/// "streaming", "vertical_slash" and "block" its sizes, its share of the admitted pairs and its
/// recall, with a standard error if rows were sampled.
Document to_json(const std::vector<TriagedHeadRow>& heads, const TriageRule& rule);

/// A heading, and a line for each head: its pattern, and the recall and the sizes of each pattern.
std::string to_csv(const std::vector<TriagedHeadRow>& heads);

/// What MInference reads as `config_path` (microsoft/MInference,
/// gather_last_q_vertical_slash_topk): a list of the model's layers, each with {"head": [pattern,
/// vertical size, slash size, score]}.
struct MInferenceConfig {
  Document layers = Document::array();
  std::vector<Index> incomplete;  // layers with heads that it does not name
};

/// A layer stands at the number in its name, or at its place in the source if the names of triaged
/// layers do not number them. The list ends with the last layer of the source. MInference has no
/// entry for a full head: all diagonals are the same.
MInferenceConfig minference_config(const std::vector<TriagedHeadRow>& heads, const Source& source);
/// What MInference does with heads that `file` does not name; empty if it names all.
std::string note_of(const MInferenceConfig& config, const std::string& file);

}  // namespace fovea
