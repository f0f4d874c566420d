#include "model/encoder_effect.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

double dot(const float* a, const float* b, Index n) {
  double sum = 0;
  for (Index j = 0; j < n; ++j) sum += double{a[j]} * double{b[j]};
  return sum;
}

/// NaN if one of the rows is not finite.
double cosine_of(double product, double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) return NAN;
  return a > 0 && b > 0 ? product / std::sqrt(a * b) : a == b ? 1 : 0;
}

/// The cosine of the means of all rows.
double pooled_cosine(MatrixView a, MatrixView b) {
  double product = 0, of_a = 0, of_b = 0;
  for (Index j = 0; j < a.cols; ++j) {
    double sum_a = 0, sum_b = 0;
    for (Index i = 0; i < a.rows; ++i) {
      sum_a += double{a.row(i)[j]};
      sum_b += double{b.row(i)[j]};
    }
    product += sum_a * sum_b;
    of_a += sum_a * sum_a;
    of_b += sum_b * sum_b;
  }
  return cosine_of(product, of_a, of_b);
}

}  // namespace

Drift drift_of(MatrixView replaced, MatrixView exact) {
  Drift drift{.least_cosine = INFINITY};
  double error = 0, norm = 0;
  const Index n = exact.rows, width = exact.cols;
  for (Index i = 0; i < n; ++i) {
    const float *a = replaced.row(i), *b = exact.row(i);
    for (Index j = 0; j < width; ++j) {
      const double difference = double{a[j]} - double{b[j]};
      error += difference * difference;
    }
    const double of_a = dot(a, a, width), of_b = dot(b, b, width);
    norm += of_b;
    const double cosine = cosine_of(dot(a, b, width), of_a, of_b);
    if (std::isnan(cosine)) {
      ++drift.rows_not_finite;
      continue;
    }
    drift.cosine += cosine;
    drift.least_cosine = std::min(drift.least_cosine, cosine);
  }
  const Index counted = n - drift.rows_not_finite;
  drift.cosine /= static_cast<double>(counted);  // NaN of none
  if (counted == 0) drift.least_cosine = NAN;
  drift.relative = norm > 0 ? std::sqrt(error / norm) : error > 0 ? INFINITY : 0;
  return drift;
}

EncoderEffects::EncoderEffects(const Encoder& encoder, const EncoderInput& input,
                               const Backend& backend, Run& run)
    : encoder_(encoder), backend_(backend) {
  hidden_.push_back(input.image ? encoder.embed(*input.image, backend, run)
                                : encoder.embed(input.ids, {}, backend, run));
  output_ = encoder.encode_from(
      0, Matrix::copy_of(hidden_[0]), {}, backend, run,
      [this](EncodedLayer&& layer) { hidden_.push_back(std::move(layer.hidden)); });
}

PassTime EncoderEffects::time(std::span<const Replacement> replacements, Run& run) const {
  PassTime sum;
  encoder_.encode_from(0, Matrix::copy_of(hidden_[0]), replacements, backend_, run,
                       [&](EncodedLayer&& layer) {
                         sum.attention_ms += layer.attention_ms;
                         sum.layers_ms += layer.layer_ms;
                       });
  return sum;
}

EncoderEffect EncoderEffects::measure(std::span<const Replacement> replacements, Run& run) const {
  Index first = encoder_.shape().layers;
  for (const Replacement& one : replacements) first = std::min(first, one.where.first_layer());
  EncoderEffect effect;
  effect.costs.resize(replacements.size());
  for (Index layer = 0; layer < first; ++layer) effect.layers.push_back({0, 1, 1});
  const auto take = [&](EncodedLayer&& layer) {
    effect.layers.push_back(drift_of(layer.hidden, hidden_[layer.layer + 1]));
    for (std::size_t i = 0; i < layer.costs.size(); ++i) effect.costs[i] += layer.costs[i];
  };
  const Matrix output = encoder_.encode_from(first, Matrix::copy_of(hidden_[first]), replacements,
                                             backend_, run, take);
  effect.output = drift_of(output, output_);
  for (Index i = 0; i < output_.rows(); ++i)
    effect.tokens.push_back(
        drift_of(MatrixView(output).slice({i, i + 1}), MatrixView(output_).slice({i, i + 1}))
            .relative);
  effect.pooled_cosine = pooled_cosine(output, output_);
  effect.class_cosine =
      drift_of(MatrixView(output).slice({0, 1}), MatrixView(output_).slice({0, 1})).cosine;
  return effect;
}

}  // namespace fovea
