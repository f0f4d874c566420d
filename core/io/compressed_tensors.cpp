#include "io/compressed_tensors.h"

#include <algorithm>
#include <utility>

#include "data/error.h"
#include "data/shape.h"

namespace fovea {
namespace {

constexpr std::string_view key_names[] = {"k_extra"}, value_names[] = {"v_extra"},
                           token_names[] = {"extra_tokens"}, choice_names[] = {"extra_indices"};
constexpr Names entry_names[] = {key_names, value_names, token_names, choice_names};

/// Reads the entries of one layer.
class CompressedReader {
 public:
  CompressedReader(const LayerTensors& tensors, Layer& layer) : tensors_(tensors), layer_(layer) {}

  void read() {
    const auto *keys = tensors_.find(key_names), *values = tensors_.find(value_names),
               *tokens = tensors_.find(token_names), *choice = tensors_.find(choice_names);
    for (const NamedTensor* tensor : {values, tokens, choice})
      if (tensor && !keys) refuse_without(*tensor, "k_extra");
    if (!keys) return;
    if (!tokens) refuse_without(*keys, "extra_tokens");
    if (layer_.has_values() && !values) refuse_without(*keys, "v_extra");
    if (values && !layer_.has_values()) refuse_without(*values, "v");
    CompressedEntries entries{.tokens = layer_.keys(), .stands_for = {}};
    if (layer_.queries() > entries.tokens)
      throw InputError(tensors_.file().path, fovea::quoted(keys->name) + " beside " +
                                                 layer_.lengths().text() +
                                                 "; expected at most as many queries as tokens");
    HeadTensor k = entries_of(*keys, layer_.d());
    read_tokens(*tokens, k.rows, entries);
    if (values) {
      HeadTensor v = entries_of(*values, layer_.dv());
      if (v.rows != k.rows)
        tensors_.refuse(*values, shape_text({layer_.k.heads, k.rows, layer_.dv()}));
      layer_.v = joined(std::move(layer_.v), std::move(v));
    }
    layer_.k = joined(std::move(layer_.k), std::move(k));
    LayerConditions& conditions = layer_.conditions;
    if (choice) read_choice(*choice, conditions.chosen_entries);
    conditions.compressed = std::make_shared<const CompressedEntries>(std::move(entries));
    layer_.key_sequence = Sequence{.compressed = conditions.compressed};
  }

 private:
  [[noreturn]] void refuse_without(const NamedTensor& tensor, const std::string& missing) const {
    throw InputError(tensors_.file().path,
                     fovea::quoted(tensor.name) + " without " + missing + "; expected both");
  }

  HeadTensor entries_of(const NamedTensor& whole, Index width) const {
    const NamedTensor tensor = tensors_.of_batch(whole, 3);
    const std::size_t rank = tensor.shape.size();
    if (rank < 2 || tensor.shape[rank - 2] < 1)
      tensors_.refuse(whole, "[" + std::to_string(layer_.k.heads) + ",m," + std::to_string(width) +
                                 "] of m entries, 1 or more");
    return tensors_.matrices_of_member(tensor, layer_.k.heads, tensor.shape[rank - 2], width);
  }

  NamedTensor whole_numbers(const NamedTensor& whole, std::size_t rank) const {
    NamedTensor tensor = tensors_.of_batch(whole, rank);
    if (tensor.type != ElementType::i32 && tensor.type != ElementType::i64)
      throw InputError(tensors_.file().path, fovea::quoted(tensor.name) + " has dtype " +
                                                 tensor.dtype + "; expected I32 or I64");
    return tensor;
  }

  /// [rows, cols], or [heads, rows, cols].
  static HeadTensor numbers_of(const NamedTensor& tensor) {
    const std::size_t rank = tensor.shape.size();
    return {.type = *tensor.type,
            .big_endian = tensor.big_endian,
            .bytes = tensor.bytes,
            .begin = tensor.begin,
            .heads = rank == 3 ? tensor.shape[0] : 1,
            .rows = tensor.shape[rank - 2],
            .cols = tensor.shape[rank - 1],
            .head_stride = rank == 3 ? tensor.strides[0] : 0,
            .row_stride = tensor.strides[rank - 2],
            .col_stride = tensor.strides[rank - 1]};
  }

  void read_tokens(const NamedTensor& whole, Index count, CompressedEntries& entries) const {
    const NamedTensor tensor = whole_numbers(whole, 2);
    if (tensor.shape != std::vector<Index>{count, 2})
      tensors_.refuse(
          whole, shape_text({count, 2}) + ", the first token of each entry and one past the last");
    std::vector<std::int64_t> ends;
    numbers_of(tensor).read_whole(0, {0, count}, {0, 2}, ends);
    for (std::size_t c = 0; c < ends.size(); c += 2)
      entries.stands_for.push_back({ends[c], ends[c + 1]});
    check_entries(entries, tensors_.file().path + ", " + fovea::quoted(whole.name));
  }

  void read_choice(const NamedTensor& whole, SelectionTensors& out) const {
    const NamedTensor tensor = whole_numbers(whole, 3);
    const std::size_t rank = tensor.shape.size();
    const auto shares = [&](Index heads) {
      return heads == 1 || heads == layer_.k.heads || heads == layer_.heads();
    };
    if (rank < 2 || rank > 3 || tensor.shape[rank - 2] != layer_.queries() ||
        tensor.shape[rank - 1] < 1 || (rank == 3 && !shares(tensor.shape[0]))) {
      const std::string of_queries = std::to_string(layer_.queries()) + ",entries]";
      tensors_.refuse(
          whole, "[" + of_queries + " or [" + std::to_string(layer_.heads()) + "," + of_queries);
    }
    out.heads = layer_.heads();
    out.lists = {.where = tensors_.file().path + ", " + fovea::quoted(whole.name),
                 .entries = numbers_of(tensor)};
  }

  const LayerTensors& tensors_;
  Layer& layer_;
};

}  // namespace

bool may_be_entry_tensor(const std::string& name) {
  return std::ranges::any_of(entry_names, [&](Names names) { return ends_in(name, names); });
}

void add_compressed_tensors(const LayerTensors& tensors, Layer& layer) {
  CompressedReader(tensors, layer).read();
}

}  // namespace fovea
