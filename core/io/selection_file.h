// The pairs that plans keep as tensors of a file, in the forms that other programs read and that
// selection_of (io/selection_tensors.h) reads back.
#pragma once

#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "io/safetensors_writer.h"
#include "plan/plan.h"

namespace fovea {

enum class SelectionForm { pairs, blocks, flex, indices, csr };

struct SelectionFormKind {
  SelectionForm form;
  const char* id;       // on the command line
  const char* words;    // "mask of pairs", after an article
  const char* tensors;  // what the file of one head holds
  bool has_blocks = false;
};
/// In the order of the enumeration.
std::span<const SelectionFormKind> selection_forms();
const SelectionFormKind& kind_of(SelectionForm form);

/// The blocks that are proposed: those of FlexAttention by default.
inline constexpr Lengths usual_block{128, 128};

struct SelectionFile {
  std::vector<OutTensor> tensors;
  std::map<std::string, std::string> metadata;  // block_size
  /// Pairs that a form of blocks keeps and the plans do not, though the head admits them.
  double added_pairs = 0;
};

/// A sentence that counts `added_pairs`; empty if there are none.
std::string note_of_added(const SelectionFile& file, const std::string& column);

/// What the plans of some heads of a layer keep; they have equal lengths. Blocks with a pair are
/// kept whole; those of which a plan lacks a pair are partial ones of FlexAttention. Throws
/// UsageError for compressed rows of several heads, UnavailableError for more than 4 GiB or than
/// memory holds, Cancelled.
SelectionFile selection_file(std::span<const Plan* const> heads, SelectionForm form, Lengths block,
                             const std::stop_token& stop = {});

}  // namespace fovea
