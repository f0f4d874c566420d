#include "io/imported_tensors.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "data/error.h"
#include "data/shape.h"
#include "io/tensor_names.h"

namespace fovea {
namespace {

constexpr std::string_view kept_names[] = {"kept"};
constexpr std::string_view words[] = {"z", "lse", "p", "kept"};

constexpr Index covering(Index tokens, Index block) {
  return (tokens + block - 1) / block;
}

/// The side of square blocks if `down` x `across` of them cover the pairs: a power of two if one
/// fits, else the smallest side that fits.
std::optional<Index> block_of(Index queries, Index keys, Index down, Index across) {
  const auto covers = [&](Index block) {
    return covering(queries, block) == down && covering(keys, block) == across;
  };
  const Index longest = std::max(queries, keys);
  for (Index block = 1; block < 2 * longest; block *= 2)
    if (covers(block)) return block;
  for (Index block = 1; block <= longest; ++block)
    if (covers(block)) return block;
  return {};
}

class ImportedReader {
 public:
  ImportedReader(const LayerTensors& tensors, Layer& layer) : tensors_(tensors), layer_(layer) {}

  void read() {
    for (const auto& [word, names] : unnamed_)
      if (const NamedTensor* tensor = tensors_.find(names)) add({}, word, *tensor);
    if (const NamedTensor* tensor = tensors_.find(hook_names_)) add({}, "z", heads_first(*tensor));
    for (const auto& [rest, tensor] : tensors_.all()) add_if_named(rest, *tensor);
    if (ImportedTensors& own = results_[{}]; layer_.attention.present() && !own.p.present())
      own.p = layer_.attention;
    for (auto& [name, result] : results_)
      if (result.z.present() || result.p.present()) layer_.imported.push_back(std::move(result));
  }

 private:
  /// [.., n, H, d] as [.., H, n, d].
  static NamedTensor heads_first(NamedTensor tensor) {
    const std::size_t rank = tensor.shape.size();
    if (rank >= 3 && tensor.strides.size() == rank) {  // otherwise its type is refused
      std::swap(tensor.shape[rank - 2], tensor.shape[rank - 3]);
      std::swap(tensor.strides[rank - 2], tensor.strides[rank - 3]);
    }
    return tensor;
  }

  // P.NAME.z, unless P.NAME is a layer of its own.
  void add_if_named(const std::string& rest, const NamedTensor& tensor) {
    const std::size_t dot = rest.rfind('.');
    if (dot == std::string::npos || dot == 0) return;
    const std::string name = rest.substr(0, dot), word = rest.substr(dot + 1);
    if (name.find('.') == std::string::npos && std::ranges::find(words, word) != std::end(words) &&
        !tensors_.is_layer_within(name, tensor))
      add(printable(name), word, tensor);
  }

  void add(const std::string& name, std::string_view word, const NamedTensor& tensor) {
    ImportedTensors& result = results_[name];
    result.name = name;
    const Index heads = layer_.heads(), queries = layer_.queries(), keys = layer_.keys();
    if (word == "z" && !layer_.has_values()) return;  // nothing to compare it with
    if (word == "z")
      result.z = tensors_.matrices(tensor, heads, queries, layer_.dv());
    else if (word == "p")
      result.p = tensors_.matrices(tensor, heads, queries, keys);
    else if (word == "lse")
      result.lse = lists(tensor);
    else
      read_kept(tensor, result);
  }

  HeadTensor lists(const NamedTensor& whole) const {
    const NamedTensor tensor = tensors_.of_batch(whole, 2);
    require_float(tensors_.file(), tensor);
    const Index heads = layer_.heads(), queries = layer_.queries();
    const bool one_head = heads == 1 && tensor.shape == std::vector<Index>{queries};
    const std::vector<Index> expected{heads, queries};
    if (!one_head && tensor.shape != expected) tensors_.refuse(whole, shape_text(expected));
    return {.type = *tensor.type,
            .big_endian = tensor.big_endian,
            .bytes = tensor.bytes,
            .begin = tensor.begin,
            .heads = heads,
            .rows = queries,
            .cols = 1,
            .head_stride = one_head ? 0 : tensor.strides[0],
            .row_stride = tensor.strides.back(),
            .col_stride = 0};
  }

  void read_kept(const NamedTensor& whole, ImportedTensors& result) const {
    const NamedTensor tensor = tensors_.of_batch(whole, 3);
    const std::vector<Index>& shape = tensor.shape;
    const std::size_t rank = shape.size();
    const Index heads = rank == 3 ? shape[0] : 1;
    const auto block = rank == 2 || rank == 3 ? block_of(layer_.queries(), layer_.keys(),
                                                         shape[rank - 2], shape[rank - 1])
                                              : std::nullopt;
    if (!block || (heads != 1 && heads != layer_.heads()))
      tensors_.refuse(whole, shape_text({layer_.queries(), layer_.keys()}) + " or " +
                                 shape_text({layer_.heads(), layer_.queries(), layer_.keys()}) +
                                 ", or as many blocks as cover them");
    result.kept_block = *block;
    result.kept = {.type = *tensor.type,
                   .big_endian = tensor.big_endian,
                   .bytes = tensor.bytes,
                   .begin = tensor.begin,
                   .heads = heads,
                   .rows = shape[rank - 2],
                   .cols = shape[rank - 1],
                   .head_stride = rank == 3 ? tensor.strides[0] : 0,
                   .row_stride = tensor.strides[rank - 2],
                   .col_stride = tensor.strides[rank - 1]};
  }

  static constexpr std::string_view z_names_[] = {"z", "attn_output"}, lse_names_[] = {"lse"},
                                    p_names_[] = {"p"}, hook_names_[] = {"hook_z"};
  static constexpr std::pair<std::string_view, Names> unnamed_[] = {
      {"z", z_names_}, {"lse", lse_names_}, {"p", p_names_}, {"kept", kept_names}};

  const LayerTensors& tensors_;
  Layer& layer_;
  std::map<std::string, ImportedTensors> results_;
};

}  // namespace

bool may_be_kept_pairs(const std::string& name) {
  return ends_in(name, kept_names);
}

void add_imported_tensors(const LayerTensors& tensors, Layer& layer) {
  ImportedReader(tensors, layer).read();
}

}  // namespace fovea
