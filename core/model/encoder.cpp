#include "model/encoder.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "data/error.h"
#include "data/memory.h"
#include "data/number_text.h"
#include "evaluate/computation.h"
#include "model/resampling.h"
#include "variants/variant.h"

namespace fovea {
namespace {

constexpr Index rows_per_turn = 16;

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// body(row) for every row, on the threads of the back end.
void for_rows(Index rows, const Backend& backend, Run& run, const auto& body) {
  backend.share_out((rows + rows_per_turn - 1) / rows_per_turn, run, [&](Index turn) {
    const Index end = std::min((turn + 1) * rows_per_turn, rows);
    for (Index i = turn * rows_per_turn; i < end; ++i) body(i);
  });
}

MatrixView columns(const Matrix& m, IndexRange cols) {
  return {m.data() + cols.begin, m.rows(), cols.size(), m.stride()};
}

Matrix normalised(const Matrix& x, const LayerNorm& norm, const Backend& backend, Run& run) {
  Matrix out = Matrix::padded(x.rows(), x.cols());
  for_rows(x.rows(), backend, run, [&](Index i) { norm.apply(x.row(i), out.row(i)); });
  return out;
}

/// hidden + (x + bias) scale, and its norm where that comes after.
void add(const Matrix& x, const std::vector<float>& bias, const std::vector<float>& scale,
         const LayerNorm* norm, Matrix& hidden, const Backend& backend, Run& run) {
  for_rows(x.rows(), backend, run, [&](Index i) {
    float* to = hidden.row(i);
    const float* from = x.row(i);
    for (Index j = 0; j < x.cols(); ++j)
      to[j] += scale.empty() ? from[j] + bias[j] : (from[j] + bias[j]) * scale[j];
    if (norm) norm->apply(to, to);
  });
}

/// Q, K and V from the product with all their weights, with the biases.
void split(const Matrix& qkv, const std::vector<float>& bias, EncodedLayer& out,
           const Backend& backend, Run& run) {
  const Index width = qkv.cols() / 3;
  for (Matrix* part : {&out.q, &out.k, &out.v}) *part = Matrix::padded(qkv.rows(), width);
  for_rows(qkv.rows(), backend, run, [&](Index i) {
    Index from = 0;
    for (Matrix* part : {&out.q, &out.k, &out.v})
      for (Index j = 0; j < width; ++j, ++from) (*part)(i, j) = qkv(i, from) + bias[from];
  });
}

/// The outputs of all heads, side by side. Sets the time that they took, without what counting the
/// costs of replacements takes, and these costs.
Matrix attend(EncodedLayer& layer, Index heads, std::span<const Replacement> replacements,
              const Backend& backend, Run& run) {
  const Index n = layer.q.rows(), width = layer.q.cols(), d = width / heads;
  const ComputeRequest exact{.variant = &find_variant("exact")};
  Matrix out = Matrix::padded(n, width);
  layer.costs.resize(replacements.size());
  for (Index head = 0; head < heads; ++head) {
    const IndexRange cols{head * d, (head + 1) * d};
    const Problem problem{.q = columns(layer.q, cols),
                          .k = columns(layer.k, cols),
                          .v = columns(layer.v, cols),
                          .scale = 1 / std::sqrt(d),
                          .head = head};
    const auto replacement = std::ranges::find_if(
        replacements, [&](const Replacement& one) { return one.where.has(layer.layer, head); });
    const bool replaced = replacement != replacements.end();
    const Clock::time_point begin = Clock::now();
    TimedRun timed;
    const auto op =
        plan_and_bind(problem, replaced ? replacement->request_for(layer.layer, head) : exact,
                      backend, run, timed);
    const Matrix z = op->apply(run).z;
    for (Index i = 0; i < n; ++i) std::copy_n(z.row(i), d, out.row(i) + cols.begin);
    layer.attention_ms += ms_since(begin);
    if (!replaced) continue;
    const Cost cost = count_cost(op->plan(), d, d, run.stop);
    layer.costs[replacement - replacements.begin()] +=
        {1, cost.multiply_adds, cost.exact_multiply_adds};
  }
  return out;
}

}  // namespace

void Encoder::require_memory_for(Index tokens) const {
  const EncoderShape& of = shape();
  // Hidden states, their norm and those handed out; Q, K and V apart and as one product; outputs of
  // the heads and of two products; the inner states; pixels. Attention asks for its own.
  const double floats = 12 * static_cast<double>(of.width) +
                        static_cast<double>(of.inner_outputs()) +
                        static_cast<double>(weights_.patches.weights.rows());
  require_memory(sizeof(float) * floats * static_cast<double>(tokens),
                 "a model of " + plural(tokens, "token"), fewer_tokens);
}

Matrix Encoder::embedded(std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                         Run& run) const {
  const EncoderShape& of = shape();
  if (of.reads_images())
    throw InputError("", "the model reads images; expected an image, found tokens of a text");
  if (ids.empty()) throw InputError("", "there are no tokens; expected at least one");
  const auto count = std::ssize(ids);
  if (count > of.most_tokens())
    throw InputError("", plural(count, "token") + ", and the model has positions for " +
                             std::to_string(of.most_tokens()) + "; expected a shorter text");
  if (!types.empty() && types.size() != ids.size())
    throw InputError("", plural(count, "token") + " and " +
                             plural(std::ssize(types), "token type") +
                             "; expected as many types as tokens");
  require_memory_for(count);
  Matrix out = Matrix::padded(count, of.width);
  Index position = of.padding;  // RoBERTa counts from there, and gives it to padding itself
  const bool counted = of.architecture->first_position == FirstPosition::after_padding;
  for_each_row(count, run.stop, [&](Index i) {
    const Index id = ids[i], type = types.empty() ? 0 : types[i];
    const auto refuse = [&](const char* what, Index found, Index most) {
      return InputError("", std::string(what) + " " + std::to_string(found) + " at position " +
                                std::to_string(i) + "; the model has 0 to " +
                                std::to_string(most - 1));
    };
    if (id < 0 || id >= of.words) throw refuse("token", id, of.words);
    const bool has_types = !weights_.types.empty();
    if (has_types && (type < 0 || type >= of.types)) throw refuse("token type", type, of.types);
    const Matrix word = weights_.words.read({id, id + 1}, run.stop);
    const Index place = !counted ? i : id == of.padding ? of.padding : ++position;
    float* to = out.row(i);
    for (Index j = 0; j < of.width; ++j)
      to[j] =
          word(0, j) + (has_types ? weights_.types(type, j) : 0.0f) + weights_.positions(place, j);
  });
  return out;
}

PatchGrid Encoder::patches_of(Index height, Index width) const {
  const EncoderShape& of = shape();
  if (!of.reads_images())
    throw InputError("", "the model reads texts; expected the tokens of a text, found an image");
  const PatchGrid grid{height / of.patch_height, width / of.patch_width};
  if (grid.patches() == 0)
    throw InputError("", "an image of " + std::to_string(height) + " x " + std::to_string(width) +
                             " pixels; expected at least one patch of " +
                             std::to_string(of.patch_height) + " x " +
                             std::to_string(of.patch_width));
  return grid;
}

Matrix Encoder::positions_for(PatchGrid grid, const std::stop_token& stop) const {
  const EncoderShape& of = shape();
  if (grid == of.grid) return Matrix::copy_of(weights_.positions);
  const Index before = of.tokens_with_position();
  const bool antialiased = of.architecture->filter == PositionFilter::antialiased_bicubic;
  const Matrix patches =
      resample_grid(MatrixView(weights_.positions).slice({before, weights_.positions.rows()}),
                    of.grid.rows, of.grid.cols, grid.rows, grid.cols,
                    antialiased ? Resampling::bicubic : Resampling::bicubic_points, stop);
  Matrix out(before + grid.patches(), of.width);
  for (Index i = 0; i < before; ++i) std::copy_n(weights_.positions.row(i), of.width, out.row(i));
  for (Index i = 0; i < patches.rows(); ++i)
    std::copy_n(patches.row(i), of.width, out.row(before + i));
  return out;
}

Matrix Encoder::embed(const ImagePlanes& image, const Backend& backend, Run& run) const {
  const EncoderShape& of = shape();
  const PatchGrid grid = patches_of(image.height, image.width);
  const Index n = of.tokens_before_patches() + grid.patches();
  require_memory_for(n);
  Matrix pixels = Matrix::padded(grid.patches(), weights_.patches.weights.rows());
  for_rows(grid.patches(), backend, run, [&](Index patch) {
    float* to = pixels.row(patch);
    for (Index channel = 0; channel < 3; ++channel)
      for (Index y = 0; y < of.patch_height; ++y, to += of.patch_width)
        std::copy_n(image.row(channel, patch / grid.cols * of.patch_height + y) +
                        patch % grid.cols * of.patch_width,
                    of.patch_width, to);
  });
  const Matrix projected = backend.product(pixels, weights_.patches.weights, run);
  const Matrix positions = positions_for(grid, run.stop);
  Matrix out = Matrix::padded(n, of.width);
  const Index before = of.tokens_before_patches(), placed = of.tokens_with_position();
  for_rows(n, backend, run, [&](Index i) {
    const float* from = i < before ? weights_.before_patches.row(i) : projected.row(i - before);
    const float* bias = i < before ? nullptr : weights_.patches.bias.data();
    const bool has_position = i < placed || i >= before;
    const float* position =
        has_position ? positions.row(i < placed ? i : i - of.registers) : nullptr;
    for (Index j = 0; j < of.width; ++j)
      out(i, j) = from[j] + (bias ? bias[j] : 0.0f) + (position ? position[j] : 0.0f);
  });
  return embedding_normalised(std::move(out), backend, run);
}

Matrix Encoder::embedding_normalised(Matrix hidden, const Backend& backend, Run& run) const {
  const LayerNorm& norm = weights_.embedding_norm;
  return norm.weight.empty() ? std::move(hidden) : normalised(hidden, norm, backend, run);
}

EncodedLayer Encoder::project(Index index, const Matrix& hidden, const Backend& backend,
                              Run& run) const {
  const Clock::time_point begin = Clock::now();
  const LayerWeights& layer = weights_.layers[index];
  EncodedLayer out{.layer = index};
  const Matrix input = shape().architecture->norm_first
                           ? normalised(hidden, layer.attention_norm, backend, run)
                           : Matrix();
  split(backend.product(input.empty() ? hidden : input, layer.qkv.weights, run), layer.qkv.bias,
        out, backend, run);
  out.layer_ms = ms_since(begin);
  return out;
}

void Encoder::finish(EncodedLayer& out, Matrix& hidden, std::span<const Replacement> replacements,
                     const Backend& backend, Run& run) const {
  const Clock::time_point begin = Clock::now();
  const LayerWeights& layer = weights_.layers[out.layer];
  const bool first = shape().architecture->norm_first;
  const Matrix attended = attend(out, shape().heads, replacements, backend, run);
  const double counting_ms = ms_since(begin) - out.attention_ms;
  add(backend.product(attended, layer.output.weights, run), layer.output.bias,
      layer.attention_scale, first ? nullptr : &layer.attention_norm, hidden, backend, run);

  const Matrix input = first ? normalised(hidden, layer.feed_norm, backend, run) : Matrix();
  Matrix inner = backend.product(input.empty() ? hidden : input, layer.inner.weights, run);
  for_rows(inner.rows(), backend, run,
           [&](Index i) { activate(shape().activation, layer.inner.bias, inner.row(i)); });
  const MatrixView active{inner.data(), inner.rows(), shape().inner, inner.stride()};
  add(backend.product(active, layer.outer.weights, run), layer.outer.bias, layer.feed_scale,
      first ? nullptr : &layer.feed_norm, hidden, backend, run);
  out.layer_ms += ms_since(begin) - counting_ms;
}

Matrix Encoder::embed(std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                      const Backend& backend, Run& run) const {
  Run quiet = run.quiet();
  return embedding_normalised(embedded(ids, types, run), backend, quiet);
}

Matrix Encoder::encode_from(Index first, Matrix hidden, std::span<const Replacement> replacements,
                            const Backend& backend, Run& run, const Take& take) const {
  Run quiet = run.quiet();
  for (Index i = first; i < shape().layers; ++i) {
    EncodedLayer out = project(i, hidden, backend, quiet);
    finish(out, hidden, replacements, backend, quiet);
    out.hidden = Matrix::copy_of(hidden);
    run.check();
    take(std::move(out));
    run.reached(static_cast<double>(i + 1) / static_cast<double>(shape().layers));
  }
  if (weights_.final_norm.weight.empty()) return hidden;
  return normalised(hidden, weights_.final_norm, backend, quiet);
}

Matrix Encoder::encode(std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                       const Backend& backend, Run& run, const Take& take) const {
  return encode_from(0, embed(ids, types, backend, run), {}, backend, run, take);
}

Matrix Encoder::encode(const ImagePlanes& image, const Backend& backend, Run& run,
                       const Take& take) const {
  return encode_from(0, embed(image, backend, run), {}, backend, run, take);
}

std::unique_ptr<Encoder> read_encoder(const std::string& folder, const std::stop_token& stop) {
  return std::make_unique<Encoder>(read_encoder_weights(folder, stop));
}

}  // namespace fovea
