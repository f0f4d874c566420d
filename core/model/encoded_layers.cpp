#include "model/encoded_layers.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <string>
#include <utility>

namespace fovea {
namespace {

using Part = Matrix EncodedLayer::*;

/// The layers that were computed so far, and the hidden states that go into the last of them.
class EncodedLayers {
 public:
  EncodedLayers(std::shared_ptr<const Encoder> encoder, Matrix hidden,
                std::shared_ptr<const Backend> backend)
      : encoder_(std::move(encoder)), backend_(std::move(backend)), hidden_(std::move(hidden)) {
    layers_.reserve(encoder_->shape().layers);
  }

  const EncodedLayer& layer(Index index, const std::stop_token& stop) {
    const std::scoped_lock lock(mutex_);
    Profile profile;
    Run run{profile, stop};
    while (std::ssize(layers_) <= index) {
      run.check();
      if (!layers_.empty()) finish_last(run);
      layers_.push_back(encoder_->project(std::ssize(layers_), hidden_, *backend_, run));
    }
    if (encoder_ && std::ssize(layers_) == encoder_->shape().layers) {
      encoder_.reset();  // the weights
      backend_.reset();
      hidden_ = {};
    }
    return layers_[index];
  }

 private:
  // The states before the layer are kept until those after it are complete.
  void finish_last(Run& run) {
    if (finished_ == std::ssize(layers_)) return;
    Matrix hidden = Matrix::copy_of(hidden_);
    encoder_->finish(layers_.back(), hidden, {}, *backend_, run);
    hidden_ = std::move(hidden);
    ++finished_;
  }

  std::mutex mutex_;
  std::shared_ptr<const Encoder> encoder_;
  std::shared_ptr<const Backend> backend_;
  Matrix hidden_;  // after `finished_` layers
  Index finished_ = 0;
  std::vector<EncodedLayer> layers_;  // never moved: room for all of them is reserved
};

class LayerBytes final : public Bytes {
 public:
  LayerBytes(std::shared_ptr<EncodedLayers> layers, Index layer, Part part)
      : layers_(std::move(layers)), layer_(layer), part_(part) {}

  void prepare(const std::stop_token& stop) const override { (void)layers_->layer(layer_, stop); }
  void read(Index begin, std::span<std::byte> out) const override {
    const Matrix& part = layers_->layer(layer_, {}).*part_;
    std::copy_n(reinterpret_cast<const std::byte*>(part.data()) + begin, out.size(), out.data());
  }

 private:
  std::shared_ptr<EncodedLayers> layers_;
  Index layer_;
  Part part_;
};

}  // namespace

std::vector<Layer> layers_of(std::shared_ptr<const Encoder> encoder, Matrix hidden,
                             std::shared_ptr<const Backend> backend) {
  const EncoderShape shape = encoder->shape();
  const Index n = hidden.rows(), d = shape.head_width();
  const auto computed =
      std::make_shared<EncodedLayers>(std::move(encoder), std::move(hidden), std::move(backend));
  const auto heads_of = [&](Index layer, Part part) {
    constexpr Index element = sizeof(float);
    return HeadTensor{.type = ElementType::f32,
                      .big_endian = std::endian::native == std::endian::big,
                      .bytes = std::make_shared<LayerBytes>(computed, layer, part),
                      .heads = shape.heads,
                      .rows = n,
                      .cols = d,
                      .head_stride = d * element,
                      .row_stride = padded_width(shape.heads * d) * element,
                      .col_stride = element};
  };
  std::vector<Layer> layers;
  for (Index i = 0; i < shape.layers; ++i)
    layers.push_back({.name = "layer" + std::to_string(i),
                      .q = heads_of(i, &EncodedLayer::q),
                      .k = heads_of(i, &EncodedLayer::k),
                      .v = heads_of(i, &EncodedLayer::v)});
  return layers;
}

}  // namespace fovea
