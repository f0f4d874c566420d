// An Encoder computes what transformers computes: hidden states, Q, K, V and outputs of a tiny
// model for each row of the table of architectures.
#include "model/encoder.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "backend/backends.h"
#include "model/fixture.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr std::array names{
    "bert",          "bert_8_bits",   "bert_width_30",         "distilbert",   "roberta",
    "xlm_roberta",   "vit",           "vit_other_size",        "vit_width_30", "deit",
    "dinov2",        "dinov2_swiglu", "dinov2_with_registers", "clip_vision",  "clip",
    "siglip_vision", "siglip"};

/// |found - expected| / |expected|, Frobenius.
double error_of(const Matrix& found, const std::vector<double>& expected) {
  REQUIRE(found.rows() * found.cols() == std::ssize(expected));
  double error = 0, norm = 0;
  for (Index i = 0; i < found.rows(); ++i)
    for (Index j = 0; j < found.cols(); ++j) {
      const double x = expected[i * found.cols() + j];
      error += (double{found(i, j)} - x) * (double{found(i, j)} - x);
      norm += x * x;
    }
  return std::sqrt(error / norm);
}

struct Encoded {
  std::vector<EncodedLayer> layers;
  Matrix output;
};

Encoded encode(const Encoder& encoder, const Expected& expected, const Backend& backend) {
  Encoded found;
  const auto take = [&](EncodedLayer&& layer) { found.layers.push_back(std::move(layer)); };
  Profile profile;
  Run run{profile};
  if (expected.has("ids")) {
    const auto types = expected.has("types") ? expected.values<std::int32_t>("types")
                                             : std::vector<std::int32_t>();
    found.output = encoder.encode(expected.values<std::int32_t>("ids"), types, backend, run, take);
  } else {
    const auto shape = expected.shape("pixels");
    const ImagePlanes image{
        .height = shape[1], .width = shape[2], .values = expected.values<float>("pixels")};
    found.output = encoder.encode(image, backend, run, take);
  }
  return found;
}

}  // namespace

TEST_CASE("an encoder is as near to float64 as transformers in float32") {
  for (const int threads : {1, 3}) {
    const auto backend = make_cpu_backend({.threads = threads});
    for (const std::string name : names) {
      CAPTURE(name);
      CAPTURE(threads);
      const Expected expected(fixtures + name);
      const Encoded found = encode(*read_encoder(fixtures + name), expected, *backend);
      const auto check = [&](const std::string& tensor, const Matrix& values) {
        CAPTURE(tensor);
        // Two ways to round the same sums differ by as much as their errors.
        CHECK(error_of(values, expected.values<double>(tensor)) <=
              2 * expected.float32_error(tensor));
      };
      CHECK(found.layers.size() == 2);
      for (const EncodedLayer& layer : found.layers) {
        const std::string of = "." + std::to_string(layer.layer);
        check("q" + of, layer.q);
        check("k" + of, layer.k);
        check("v" + of, layer.v);
        check("hidden" + of, layer.hidden);
      }
      check("output", found.output);
    }
  }
}

TEST_CASE("every architecture has its fixture") {
  std::set<std::string_view> covered;
  for (const std::string name : names)
    covered.insert(read_encoder(fixtures + name)->shape().architecture->model_type);
  for (const Architecture& row : architectures()) {
    CAPTURE(row.model_type);
    CHECK(covered.contains(row.model_type));
  }
}
