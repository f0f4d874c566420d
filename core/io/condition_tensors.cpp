#include "io/condition_tensors.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "data/error.h"
#include "data/shape.h"

namespace fovea {
namespace {

constexpr std::string_view masks[] = {"mask", "attention_mask", "attn_mask"};
constexpr std::string_view biases[] = {"bias", "position_bias", "attention_bias"};
constexpr std::string_view slopes_names[] = {"alibi", "alibi_slopes"};
constexpr std::string_view sinks_names[] = {"sinks", "s_aux"};
constexpr std::string_view segments_names[] = {"segments", "segment_ids"};
constexpr std::string_view cumulative[] = {"cu_seqlens"};
constexpr std::string_view outputs[] = {"z", "attn_output"};

using Names = std::span<const std::string_view>;
constexpr Names all_names[] = {masks,          biases,     slopes_names, sinks_names,
                               segments_names, cumulative, outputs};

constexpr std::string_view separators = "./:_-";

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Reads the tensors of one layer.
class ConditionReader {
 public:
  ConditionReader(const TensorFile& file, const LayerPlace& place, Layer& layer)
      : file_(file), place_(place), layer_(layer) {}

  void read() {
    LayerConditions& out = layer_.conditions;
    if (const auto* mask = find(masks))
      (mask->type && is_float(*mask->type) ? out.bias : out.mask) = pairs(*mask);
    if (const auto* bias = find(biases)) {
      if (out.bias.present())
        throw InputError(file_.path, fovea::quoted(bias->name) +
                                         " beside a mask of a floating type, which is a bias too; "
                                         "expected one of them");
      require_float(file_, *bias);
      out.bias = pairs(*bias);
    }
    if (const auto* slopes = find(slopes_names)) out.alibi = of_heads(*slopes);
    if (const auto* sinks = find(sinks_names)) out.sinks = of_heads(*sinks);
    if (const auto* segments = find(segments_names)) read_segments(*segments);
    if (const auto* ends = find(cumulative)) read_cumulative(*ends);
    if (const auto* z = find(outputs)) read_output(*z);
  }

 private:
  /// Of the layer itself, or else of the whole file.
  const NamedTensor* find(Names names) const {
    for (const std::string& prefix : {place_.prefix, std::string()}) {
      for (const NamedTensor& tensor : file_.tensors)
        for (const std::string_view name : names)
          if (is_named(tensor.name, prefix, name)) return &tensor;
      if (prefix.empty()) break;
    }
    return nullptr;
  }

  static bool is_named(const std::string& found, const std::string& prefix, std::string_view name) {
    if (!found.starts_with(prefix)) return false;
    std::string rest = found.substr(prefix.size());
    if (!prefix.empty()) {
      if (rest.empty() || separators.find(rest[0]) == std::string_view::npos) return false;
      rest.erase(0, 1);
    }
    return lower_case(rest) == name;
  }

  [[noreturn]] void refuse(const NamedTensor& tensor, const std::string& expected) const {
    throw InputError(file_.path, fovea::quoted(tensor.name) + " has shape " +
                                     shape_text(tensor.shape) + "; expected " + expected);
  }

  /// The tensor without the axis of the batch, if it has one.
  NamedTensor of_batch(NamedTensor tensor, std::size_t rank) const {
    if (!tensor.type || !tensor.bytes)
      throw InputError(file_.path, fovea::quoted(tensor.name) + " has dtype " + tensor.dtype +
                                       "; expected a floating type, BOOL, I32 or I64");
    const bool batched = tensor.shape.size() == rank + 1 ||
                         (place_.batches > 1 && tensor.shape.size() > 1 &&
                          tensor.shape[0] == place_.batches && tensor.shape.size() <= rank);
    if (!batched || (tensor.shape[0] != 1 && tensor.shape[0] != place_.batches)) return tensor;
    if (tensor.shape[0] > 1) tensor.begin += place_.batch * tensor.strides[0];
    tensor.shape.erase(tensor.shape.begin());
    tensor.strides.erase(tensor.strides.begin());
    return tensor;
  }

  HeadTensor pairs(const NamedTensor& whole) const {
    const NamedTensor tensor = of_batch(whole, 3);
    const std::vector<Index>& shape = tensor.shape;
    const Index heads = layer_.heads(), queries = layer_.queries(), keys = layer_.keys();
    const std::size_t rank = shape.size();
    const auto extent = [&](std::size_t from_end) {
      return rank > from_end ? shape[rank - 1 - from_end] : Index{1};
    };
    const auto stride = [&](std::size_t from_end) {
      return rank > from_end ? tensor.strides[rank - 1 - from_end] : Index{0};
    };
    const bool fits = rank >= 1 && rank <= 3 && extent(0) == keys &&
                      (extent(1) == queries || extent(1) == 1) &&
                      (extent(2) == heads || extent(2) == 1);
    if (!fits)
      refuse(whole, "[" + std::to_string(keys) + "], [" + std::to_string(queries) + "," +
                        std::to_string(keys) + "] or [" + std::to_string(heads) + "," +
                        std::to_string(queries) + "," + std::to_string(keys) + "]");
    return {.type = *tensor.type,
            .big_endian = tensor.big_endian,
            .bytes = tensor.bytes,
            .begin = tensor.begin,
            .heads = extent(2),
            .rows = extent(1),
            .cols = extent(0),
            .head_stride = stride(2),
            .row_stride = stride(1),
            .col_stride = stride(0)};
  }

  std::vector<float> list(const NamedTensor& whole, Index length,
                          const std::string& expected) const {
    const NamedTensor tensor = of_batch(whole, 1);
    if (tensor.shape.size() != 1 || (length >= 0 && tensor.shape[0] != length) ||
        tensor.shape[0] == 0)
      refuse(whole, expected);
    const Matrix row = HeadTensor{.type = *tensor.type,
                                  .big_endian = tensor.big_endian,
                                  .bytes = tensor.bytes,
                                  .begin = tensor.begin,
                                  .heads = 1,
                                  .rows = 1,
                                  .cols = tensor.shape[0],
                                  .head_stride = 0,
                                  .row_stride = 0,
                                  .col_stride = tensor.strides[0]}
                           .read(0);
    return {row.data(), row.data() + row.cols()};
  }

  std::vector<float> of_heads(const NamedTensor& tensor) const {
    std::vector<float> values =
        list(tensor, layer_.heads(), "[" + std::to_string(layer_.heads()) + "], one for each head");
    for (const float x : values)
      if (!std::isfinite(x))
        throw InputError(file_.path,
                         fovea::quoted(tensor.name) + " holds NaN or Inf; expected finite numbers");
    return values;
  }

  std::vector<std::int32_t> whole_numbers(const NamedTensor& tensor, Index length,
                                          const std::string& expected) const {
    std::vector<std::int32_t> out;
    for (const float x : list(tensor, length, expected)) {
      if (!(x >= 0 && x <= 0x1p24f) || x != std::floor(x))
        throw InputError(file_.path, fovea::quoted(tensor.name) + " holds " + std::to_string(x) +
                                         "; expected whole numbers from 0 to 2^24");
      out.push_back(static_cast<std::int32_t>(x));
    }
    return out;
  }

  /// Queries are of the documents of the last keys.
  Index keys_with_documents(const NamedTensor& tensor) const {
    if (layer_.queries() > layer_.keys())
      throw InputError(file_.path, fovea::quoted(tensor.name) + " beside " +
                                       layer_.lengths().text() +
                                       "; expected at most as many queries as keys");
    return layer_.keys();
  }

  void read_segments(const NamedTensor& tensor) {
    const Index keys = keys_with_documents(tensor);
    layer_.conditions.documents =
        whole_numbers(tensor, keys, "[" + std::to_string(keys) + "], the document of each token");
  }

  void read_cumulative(const NamedTensor& tensor) {
    const Index n = keys_with_documents(tensor);
    const std::string expected =
        "[documents + 1] ascending numbers from 0 to n = " + std::to_string(n) +
        ", where documents begin";
    const std::vector<std::int32_t> begins = whole_numbers(tensor, -1, expected);
    if (begins.size() < 2 || begins.front() != 0 || begins.back() != n ||
        !std::ranges::is_sorted(begins))
      throw InputError(file_.path, fovea::quoted(tensor.name) + " goes from " +
                                       std::to_string(begins.front()) + " to " +
                                       std::to_string(begins.back()) + "; expected " + expected);
    auto& documents = layer_.conditions.documents;
    documents.clear();
    for (std::size_t d = 0; d + 1 < begins.size(); ++d)
      documents.resize(static_cast<std::size_t>(begins[d + 1]), static_cast<std::int32_t>(d));
  }

  void read_output(const NamedTensor& whole) {
    const NamedTensor tensor = of_batch(whole, 3);
    require_float(file_, tensor);
    const std::vector<Index> expected{layer_.heads(), layer_.queries(), layer_.dv()};
    const bool one_head = layer_.heads() == 1 && tensor.shape.size() == 2 &&
                          tensor.shape[0] == expected[1] && tensor.shape[1] == expected[2];
    if (!one_head && tensor.shape != expected) refuse(whole, shape_text(expected));
    const std::size_t rank = tensor.shape.size();
    layer_.output = {.type = *tensor.type,
                     .big_endian = tensor.big_endian,
                     .bytes = tensor.bytes,
                     .begin = tensor.begin,
                     .heads = layer_.heads(),
                     .rows = layer_.queries(),
                     .cols = layer_.dv(),
                     .head_stride = one_head ? 0 : tensor.strides[0],
                     .row_stride = tensor.strides[rank - 2],
                     .col_stride = tensor.strides[rank - 1]};
  }

  const TensorFile& file_;
  const LayerPlace& place_;
  Layer& layer_;
};

}  // namespace

bool may_be_condition(const std::string& name) {
  const std::string lower = lower_case(name);
  for (const Names names : all_names)
    for (const std::string_view word : names)
      if (lower == word ||
          (lower.size() > word.size() && lower.ends_with(word) &&
           separators.find(lower[lower.size() - word.size() - 1]) != std::string_view::npos))
        return true;
  return false;
}

void add_condition_tensors(const TensorFile& file, const LayerPlace& place, Layer& layer) {
  ConditionReader(file, place, layer).read();
}

}  // namespace fovea
