// Selection tensors say which pairs of query and key a result keeps: a mask or lists, in the forms
// that other programs write.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "data/selection.h"
#include "io/layer_tensors.h"

namespace fovea {

/// The tensors of one result by the last words of their names, in lower case.
using TensorsByWord = std::map<std::string_view, NamedTensor>;

/// kept                              [nq, nk] 0 where a pair is left out; or of blocks:
///                                   [ceil(nq / bq), ceil(nk / bk)]
/// kv_num_blocks, kv_indices         [rows], [rows, most]: blocks of which those pairs count that
/// the
///                                   head admits, as FlexAttention writes them
/// full_kv_num_blocks, full_kv_indices  the same of blocks whose pairs are all meant
/// indices                           [nq, most] keys of each query; -1: none
/// block_indices                     [nq, most] or [ceil(nq / bq), most] blocks of keys; -1: none
/// indptr, indices                   [rows + 1], [entries]: CSR of keys, or of blocks of block_size
/// block_size                        [1] or [2]: bq and bk, also as metadata. If it is missing, the
///                                   blocks that cover the head: of lists square ones of a power of
///                                   two, of masks others, too
/// Each with an axis of heads in front (1, the heads of the keys or all heads), block_indices also
/// behind the axis of the queries; and with the axis of the batch before, where there is one.
inline constexpr std::string_view selection_words[] = {
    "kept",    "kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices",
    "indices", "block_indices", "indptr",     "block_size"};

/// Whether a tensor of this name may be one; it is of any type.
bool may_be_selection(const std::string& name);

/// What the tensors keep; nothing is present if there are none. `prefixes` are what metadata may
/// have before "block_size", the first that is there counts. Throws InputError for shapes, types
/// and combinations that do not fit.
SelectionTensors selection_of(const TensorsByWord& found, const LayerTensors& tensors,
                              const Layer& layer, const std::vector<std::string>& prefixes);

}  // namespace fovea
