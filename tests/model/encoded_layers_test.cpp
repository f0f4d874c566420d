// Layers of an encoder are computed when they are first read, each once, after those before it.
#include "model/encoded_layers.h"

#include <doctest/doctest.h>

#include <stop_token>

#include "data/error.h"
#include "model/fixture.h"
#include "window/backend.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Counts the products of hidden states and weights: one makes Q, K and V of a layer, three more
/// end it.
struct CountedProducts : CpuLike {
  Matrix product(MatrixView a, MatrixView b, Run& run) const override {
    if (++count == stop_at) stop.request_stop();
    run.check();
    return CpuLike::product(a, b, run);
  }
  mutable int count = 0;
  int stop_at = 0;
  mutable std::stop_source stop;
};

struct Opened {
  std::shared_ptr<const Encoder> encoder;
  std::shared_ptr<CountedProducts> backend = std::make_shared<CountedProducts>();
  std::vector<Layer> layers;
  std::vector<EncodedLayer> expected;

  explicit Opened(const std::string& name = "bert") : encoder(read_encoder(fixtures + name)) {
    const std::vector<std::int32_t> ids{3, 4, 5};
    Profile profile;
    Run run{profile};
    (void)encoder->encode(ids, *backend, run,
                          [&](EncodedLayer&& layer) { expected.push_back(std::move(layer)); });
    layers = layers_of(encoder, encoder->embed(ids, {}, *backend, run), backend);
    backend->count = 0;
  }

  void check_layer(Index index) const {
    CAPTURE(index);
    const Layer& layer = layers[static_cast<std::size_t>(index)];
    const EncodedLayer& its = expected[static_cast<std::size_t>(index)];
    for (const auto& [tensor, all] :
         {std::pair{&layer.q, &its.q}, {&layer.k, &its.k}, {&layer.v, &its.v}})
      for (Index head = 0; head < layer.heads(); ++head) {
        const Matrix found = tensor->read(head);
        REQUIRE(found.rows() == 3);
        for (Index i = 0; i < found.rows(); ++i)
          for (Index c = 0; c < found.cols(); ++c)
            CHECK(found(i, c) == (*all)(i, head * found.cols() + c));
      }
  }
};

}  // namespace

TEST_CASE("nothing of a layer is computed before it is read, and nothing twice") {
  const Opened model;
  REQUIRE(model.layers.size() == 2);
  CHECK(model.layers[1].name == "layer1");
  CHECK(model.backend->count == 0);
  model.check_layer(0);
  CHECK(model.backend->count == 1);  // not what the next layer needs
  model.check_layer(1);
  CHECK(model.backend->count == 5);
  model.check_layer(0);
  model.check_layer(1);
  CHECK(model.backend->count == 5);
}

TEST_CASE("a later layer may be read first") {
  const Opened model;
  model.check_layer(1);
  CHECK(model.backend->count == 5);
  model.check_layer(0);
  CHECK(model.backend->count == 5);
}

TEST_CASE("rows of a layer that are padded to whole vectors are read without the padding") {
  const Opened model("bert_width_30");
  model.check_layer(1);
}

TEST_CASE("layers outlive the model and the back end that they were opened with") {
  Opened model;
  model.encoder.reset();
  model.backend.reset();
  model.check_layer(1);
}

TEST_CASE("a layer that was cancelled anywhere is computed again by the next read") {
  for (int at = 1; at <= 5; ++at) {
    CAPTURE(at);
    const Opened model;
    model.backend->stop_at = at;
    CHECK_THROWS_AS((void)model.layers[1].q.read(0, model.backend->stop.get_token()), Cancelled);
    CHECK(model.backend->count == at);
    model.check_layer(1);
    model.check_layer(0);
  }
}
