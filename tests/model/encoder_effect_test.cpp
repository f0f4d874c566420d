// What another attention in some heads does to an encoder: against a BERT of two layers that is
// computed here in float64, from the weights of the fixture.
#include "model/encoder_effect.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "backend/backends.h"
#include "model/fixture.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr Index n = 11, width = 16, heads = 2, d = 8, layers = 2;

using Rows = std::vector<std::vector<double>>;

/// The weights of the fixture "bert".
class Weights {
 public:
  Weights() {
    for (const char* part : {"1", "2"}) {
      const TensorFile file =
          read_safetensors(fixtures + "bert/model-0000" + part + "-of-00002.safetensors");
      for (const NamedTensor& tensor : file.tensors) {
        Index count = 1;
        for (const Index side : tensor.shape) count *= side;
        std::vector<float> values(static_cast<std::size_t>(count));
        tensor.bytes->read(tensor.begin, std::as_writable_bytes(std::span(values)));
        all_[tensor.name] = {values.begin(), values.end()};
      }
    }
  }
  const std::vector<double>& at(Index layer, const std::string& name) const {
    return all_.at("encoder.layer." + std::to_string(layer) + "." + name);
  }
  /// x W^T + b
  Rows linear(const Rows& x, Index layer, const std::string& name) const {
    const auto &w = at(layer, name + ".weight"), &b = at(layer, name + ".bias");
    Rows out;
    for (const auto& row : x) {
      out.push_back(b);
      for (std::size_t o = 0; o < b.size(); ++o)
        for (std::size_t j = 0; j < row.size(); ++j)
          out.back()[o] += w[o * row.size() + j] * row[j];
    }
    return out;
  }
  /// The norm of x + y.
  Rows norm(const Rows& x, const Rows& y, Index layer, const std::string& name) const {
    const auto &gamma = at(layer, name + ".gamma"), &beta = at(layer, name + ".beta");
    Rows out = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double mean = 0, variance = 0;
      for (std::size_t j = 0; j < width; ++j) mean += (out[i][j] += y[i][j]) / width;
      for (const double v : out[i]) variance += (v - mean) * (v - mean) / width;
      for (std::size_t j = 0; j < width; ++j)
        out[i][j] = (out[i][j] - mean) / std::sqrt(variance + 1e-12) * gamma[j] + beta[j];
    }
    return out;
  }

 private:
  std::map<std::string, std::vector<double>> all_;
};

/// Hidden states after each layer. A head attends to |i - j| <= reach[layer][head].
std::vector<Rows> by_hand(const Rows& embedded, const std::vector<std::vector<Index>>& reach) {
  const Weights weights;
  std::vector<Rows> out;
  Rows hidden = embedded;
  for (Index layer = 0; layer < layers; ++layer) {
    const Rows q = weights.linear(hidden, layer, "attention.self.query"),
               k = weights.linear(hidden, layer, "attention.self.key"),
               v = weights.linear(hidden, layer, "attention.self.value");
    Rows z(n, std::vector<double>(width));
    for (Index h = 0; h < heads; ++h)
      for (Index i = 0; i < n; ++i) {
        double sum = 0;
        std::vector<double> weight(n);
        for (Index j = 0; j < n; ++j) {
          if (std::abs(i - j) > reach[layer][h]) continue;
          double logit = 0;
          for (Index c = h * d; c < (h + 1) * d; ++c) logit += q[i][c] * k[j][c];
          sum += weight[j] = std::exp(logit / std::sqrt(double(d)));
        }
        for (Index j = 0; j < n; ++j)
          for (Index c = h * d; c < (h + 1) * d; ++c) z[i][c] += weight[j] / sum * v[j][c];
      }
    hidden = weights.norm(hidden, weights.linear(z, layer, "attention.output.dense"), layer,
                          "attention.output.LayerNorm");
    Rows inner = weights.linear(hidden, layer, "intermediate.dense");
    for (auto& row : inner)
      for (double& x : row) x = 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    hidden = weights.norm(hidden, weights.linear(inner, layer, "output.dense"), layer,
                          "output.LayerNorm");
    out.push_back(hidden);
  }
  return out;
}

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t j = 0; j < a.size(); ++j)
    ab += a[j] * b[j], aa += a[j] * a[j], bb += b[j] * b[j];
  return ab / std::sqrt(aa * bb);
}

Drift drift_by_hand(const Rows& a, const Rows& b) {
  double error = 0, norm = 0;
  Drift drift{.least_cosine = 1};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      error += (a[i][j] - b[i][j]) * (a[i][j] - b[i][j]);
      norm += b[i][j] * b[i][j];
    }
    drift.cosine += cosine(a[i], b[i]) / n;
    drift.least_cosine = std::min(drift.least_cosine, cosine(a[i], b[i]));
  }
  drift.relative = std::sqrt(error / norm);
  return drift;
}

std::vector<double> mean_of(const Rows& rows) {
  std::vector<double> out(width);
  for (const auto& row : rows)
    for (std::size_t j = 0; j < width; ++j) out[j] += row[j] / double(rows.size());
  return out;
}

Replacement windows(Index reach, const std::string& where) {
  const Variant& window = find_variant("window");
  return {.attention = {.variant = &window, .values = {reach, Index{0}}},
          .where = ChosenHeads(where, layers, heads)};
}

struct TinyBert {
  std::unique_ptr<Encoder> encoder = read_encoder(fixtures + "bert");
  EncoderInput input{.ids = Expected(fixtures + "bert").values<std::int32_t>("ids")};
};

// float32 against float64: each layer rounds some hundred sums of 16 to 24 products of size 1.
constexpr double tolerance = 3e-6;

}  // namespace

TEST_CASE("the effect of a replacement is that of the model with it, in float64") {
  const TinyBert model;
  for (const int threads : {1, 3}) {
    const auto backend = make_cpu_backend({.threads = threads});
    Profile profile;
    Run run{profile};
    const EncoderEffects effects(*model.encoder, model.input, *backend, run);
    CHECK(effects.tokens() == n);
    const Matrix embedded = model.encoder->embed(model.input.ids, {}, *backend, run);
    Rows start(n, std::vector<double>(width));
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < width; ++j) start[i][j] = double{embedded(i, j)};
    const auto exact = by_hand(start, {{n, n}, {n, n}});
    struct Case {
      const char* where;
      std::vector<std::vector<Index>> reach;
    };
    for (const Case& one : {Case{"all", {{1, 1}, {1, 1}}}, Case{"0.1", {{n, 1}, {n, n}}},
                            Case{"1", {{n, n}, {1, 1}}}, Case{"1.0,0.0", {{1, n}, {1, n}}}}) {
      CAPTURE(one.where);
      const EncoderEffect found = effects.measure(std::array{windows(1, one.where)}, run);
      const auto expected = by_hand(start, one.reach);
      REQUIRE(found.layers.size() == layers);
      for (std::size_t l = 0; l < layers; ++l) {
        const Drift drift = drift_by_hand(expected[l], exact[l]);
        CHECK(std::abs(found.layers[l].relative - drift.relative) < tolerance);
        CHECK(std::abs(found.layers[l].cosine - drift.cosine) < tolerance);
        CHECK(std::abs(found.layers[l].least_cosine - drift.least_cosine) < tolerance);
      }
      // BERT has no norm after its last layer.
      CHECK(found.output.relative == found.layers.back().relative);
      CHECK(std::abs(found.pooled_cosine - cosine(mean_of(expected[1]), mean_of(exact[1]))) <
            tolerance);
      CHECK(std::abs(found.class_cosine - cosine(expected[1][0], exact[1][0])) < tolerance);
      const PassTime time = effects.time(std::array{windows(1, one.where)}, run);
      CHECK(time.layers_ms > 0);
      CHECK(time.attention_ms <= time.layers_ms);
    }
  }
}

TEST_CASE("a replacement that is exact changes nothing, and one head is less than all") {
  const TinyBert model;
  const auto backend = make_cpu_backend();
  Profile profile;
  Run run{profile};
  const EncoderEffects effects(*model.encoder, model.input, *backend, run);
  const EncoderEffect none = effects.measure(std::array{windows(n, "all")}, run);
  for (const Drift& drift : none.layers) {
    CHECK(drift.relative < tolerance);
    CHECK(drift.least_cosine > 1 - tolerance);
  }
  const EncoderEffect last = effects.measure(std::array{windows(0, "1.1")}, run);
  CHECK(last.layers[0].relative == 0);  // not computed again
  CHECK(last.layers[1].relative > 0.01);
  const EncoderEffect all = effects.measure(std::array{windows(0, "all")}, run);
  CHECK(last.layers[1].relative < all.layers[1].relative);
}

TEST_CASE("rows that are not finite have no cosine, and are counted") {
  Matrix a(4, 2), b(4, 2);
  for (Index i = 0; i < 4; ++i) a(i, 0) = b(i, 0) = 1, a(i, 1) = float(i);
  a(0, 1) = std::nanf("");
  b(1, 1) = INFINITY;
  const Drift drift = drift_of(a, b);
  CHECK(drift.rows_not_finite == 2);
  CHECK(drift.cosine == doctest::Approx((1 / std::sqrt(5.0) + 1 / std::sqrt(10.0)) / 2));
  CHECK(drift.least_cosine == doctest::Approx(1 / std::sqrt(10.0)));
  CHECK_FALSE(std::isfinite(drift.relative));
  b(2, 0) = b(3, 0) = INFINITY;
  CHECK(drift_of(a, b).rows_not_finite == 4);
  CHECK(std::isnan(drift_of(a, b).cosine));
  CHECK(std::isnan(drift_of(a, b).least_cosine));
}

TEST_CASE("drifts of rows without length are defined") {
  Matrix zero(2, 3), one(2, 3);
  one(0, 0) = 1;
  CHECK(drift_of(zero, zero).relative == 0);
  CHECK(drift_of(zero, zero).cosine == 1);
  CHECK(drift_of(one, zero).relative == INFINITY);
  CHECK(drift_of(zero, one).relative == 1);
  CHECK(drift_of(zero, one).cosine == 0.5);
}
