#include "io/condition_tensors.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "data/error.h"
#include "data/shape.h"
#include "data/stop.h"

namespace fovea {
namespace {

constexpr std::string_view masks[] = {"mask", "attention_mask", "attn_mask"};
constexpr std::string_view biases[] = {"bias", "position_bias", "attention_bias"};
constexpr std::string_view slopes_names[] = {"alibi", "alibi_slopes"};
constexpr std::string_view sinks_names[] = {"sinks", "s_aux"};
constexpr std::string_view segments_names[] = {"segments", "segment_ids"};
constexpr std::string_view cumulative[] = {"cu_seqlens"};

constexpr std::string_view beta_names[] = {"beta", "hook_beta"};
constexpr std::string_view decay_names[] = {"log_decay", "hook_log_decay"};
constexpr std::string_view level_names[] = {"level_weights", "lambda"};

constexpr Names all_names[] = {masks,      biases,     slopes_names, sinks_names, segments_names,
                               cumulative, beta_names, decay_names,  level_names};

/// Written by TransformerLens: tokens come before heads, and q and k are from before their norm.
bool is_hook(const NamedTensor& tensor) {
  return tensor.name.find("hook_") != std::string::npos;
}

/// Reads the tensors of one layer.
class ConditionReader {
 public:
  ConditionReader(const LayerTensors& tensors, Layer& layer, const std::stop_token& stop)
      : tensors_(tensors), layer_(layer), stop_(stop) {}

  void read() {
    LayerConditions& out = layer_.conditions;
    if (const auto* mask = tensors_.find(masks))
      (mask->type && is_float(*mask->type) ? out.bias : out.mask) = pairs(*mask);
    if (const auto* bias = tensors_.find(biases)) {
      if (out.bias.present())
        throw InputError(tensors_.file().path,
                         fovea::quoted(bias->name) +
                             " beside a mask of a floating type, which is a bias too; "
                             "expected one of them");
      require_float(tensors_.file(), *bias);
      out.bias = pairs(*bias);
    }
    if (const auto* slopes = tensors_.find(slopes_names)) out.alibi = of_heads(*slopes);
    if (const auto* sinks = tensors_.find(sinks_names)) out.sinks = of_heads(*sinks);
    if (const auto* segments = tensors_.find(segments_names)) read_segments(*segments);
    if (const auto* ends = tensors_.find(cumulative)) read_cumulative(*ends);
    read_gates();
  }

 private:
  void read_gates() {
    RecurrenceTensors& out = layer_.conditions.recurrence;
    const std::string n = std::to_string(layer_.keys()), heads = std::to_string(layer_.heads()),
                      of_tokens = "[" + heads + "," + n + "]",
                      of_channels = "[" + heads + "," + n + ",";
    const auto *beta = tensors_.find(beta_names), *decay = tensors_.find(decay_names),
               *weights = tensors_.find(level_names);
    // "beta" and "lambda" may be numbers of something else.
    const bool sure = decay || says_recurrence();
    if (beta && (sure || is_hook(*beta) || fitting_gates(*beta, {1}))) {
      out.beta = gates(*beta, {1}, of_tokens);
      out.before_the_norm = is_hook(*beta);
    }
    if (decay)
      out.log_decay = gates(*decay, {1, layer_.d()},
                            of_tokens + " or " + of_channels + std::to_string(layer_.d()) + "]");
    const auto levels = weights ? fitting_gates(*weights, {}) : std::nullopt;
    if (weights && (sure || (levels && levels->cols > 1)))
      out.level_weights = gates(*weights, {}, of_channels + "levels]");
  }

  /// Numbers of each token, one or some: [heads, n] or [heads, n, cols], without the axis of the
  /// heads if there is one head. Any number of columns if none is listed.
  HeadTensor gates(const NamedTensor& whole, const std::vector<Index>& cols,
                   const std::string& expected) const {
    require_float(tensors_.file(), whole);
    if (const auto fitting = fitting_gates(whole, cols)) return *fitting;
    tensors_.refuse(whole, expected);
  }

  /// Whether the metadata says that the layer, or all layers, are a recurrence.
  bool says_recurrence() const {
    const auto& metadata = tensors_.file().metadata;
    return metadata.contains("recurrence") || metadata.contains(layer_.name + ".recurrence");
  }

  /// Nothing if the tensor has another type or shape.
  std::optional<HeadTensor> fitting_gates(const NamedTensor& whole,
                                          const std::vector<Index>& cols) const {
    if (!whole.type || !is_float(*whole.type)) return {};
    const auto allows = [&](Index count) {
      return cols.empty() || std::ranges::find(cols, count) != cols.end();
    };
    for (const std::size_t rank : {3, 2, 1}) {
      const NamedTensor tensor = tensors_.of_batch(whole, rank);
      if (tensor.shape.size() != rank) continue;
      for (const bool with_heads : {true, false}) {
        const bool with_cols = rank == (with_heads ? 3 : 2);
        if (rank != std::size_t{1} + with_heads + with_cols) continue;
        const std::size_t token = with_heads && !is_hook(whole) ? 1 : 0, head = 1 - token,
                          col = rank - 1;
        const bool fits = tensor.shape[token] == layer_.keys() &&
                          (with_heads ? tensor.shape[head] : 1) == layer_.heads() &&
                          allows(with_cols ? tensor.shape[col] : 1);
        if (!fits) continue;
        return HeadTensor{.type = *tensor.type,
                          .big_endian = tensor.big_endian,
                          .bytes = tensor.bytes,
                          .begin = tensor.begin,
                          .heads = layer_.heads(),
                          .rows = layer_.keys(),
                          .cols = with_cols ? tensor.shape[col] : 1,
                          .head_stride = with_heads ? tensor.strides[head] : 0,
                          .row_stride = tensor.strides[token],
                          .col_stride = with_cols ? tensor.strides[col] : 0};
      }
    }
    return {};
  }

  HeadTensor pairs(const NamedTensor& whole) const {
    const NamedTensor tensor = tensors_.of_batch(whole, 3);
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
      tensors_.refuse(whole, "[" + std::to_string(keys) + "], [" + std::to_string(queries) + "," +
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
    const NamedTensor tensor = tensors_.of_batch(whole, 1);
    if (tensor.shape.size() != 1 || (length >= 0 && tensor.shape[0] != length) ||
        tensor.shape[0] == 0)
      tensors_.refuse(whole, expected);
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
                           .read(0, stop_);
    return {row.data(), row.data() + row.cols()};
  }

  std::vector<float> of_heads(const NamedTensor& tensor) const {
    std::vector<float> values =
        list(tensor, layer_.heads(), "[" + std::to_string(layer_.heads()) + "], one for each head");
    for (const float x : values)
      if (!std::isfinite(x))
        throw InputError(tensors_.file().path,
                         fovea::quoted(tensor.name) + " holds NaN or Inf; expected finite numbers");
    return values;
  }

  std::vector<std::int32_t> whole_numbers(const NamedTensor& tensor, Index length,
                                          const std::string& expected) const {
    std::vector<std::int32_t> out;
    const std::vector<float> values = list(tensor, length, expected);
    for_each_row(std::ssize(values), stop_, [&](Index i) {
      const float x = values[i];
      if (!(x >= 0 && x <= 0x1p24f) || x != std::floor(x))
        throw InputError(tensors_.file().path, fovea::quoted(tensor.name) + " holds " +
                                                   std::to_string(x) +
                                                   "; expected whole numbers from 0 to 2^24");
      out.push_back(static_cast<std::int32_t>(x));
    });
    return out;
  }

  /// Queries belong to the documents of the last keys.
  Index keys_with_documents(const NamedTensor& tensor) const {
    if (layer_.queries() > layer_.keys())
      throw InputError(tensors_.file().path, fovea::quoted(tensor.name) + " beside " +
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
      throw InputError(tensors_.file().path,
                       fovea::quoted(tensor.name) + " goes from " + std::to_string(begins.front()) +
                           " to " + std::to_string(begins.back()) + "; expected " + expected);
    auto& documents = layer_.conditions.documents;
    documents.clear();
    for (std::size_t d = 0; d + 1 < begins.size(); ++d)
      documents.resize(begins[d + 1], static_cast<std::int32_t>(d));
  }

  const LayerTensors& tensors_;
  Layer& layer_;
  const std::stop_token& stop_;
};

}  // namespace

bool may_be_condition(const std::string& name) {
  return std::ranges::any_of(all_names, [&](Names names) { return ends_in(name, names); });
}

void add_condition_tensors(const LayerTensors& tensors, Layer& layer, const std::stop_token& stop) {
  ConditionReader(tensors, layer, stop).read();
}

}  // namespace fovea
