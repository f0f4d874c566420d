// An Encoder is a model of texts or of images, BERT-like or ViT-like, that is computed layer by
// layer: the Q, K and V of its heads, and the hidden states after each layer.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "data/source.h"
#include "model/encoder_weights.h"
#include "model/image_input.h"
#include "model/replacement.h"

namespace fovea {

struct EncodedLayer {
  Index layer = 0;
  Matrix q, k, v;                         // [n, heads * head width], head after head
  Matrix hidden;                          // [n, width] after the layer
  double attention_ms = 0, layer_ms = 0;  // from Q, K and V to the outputs of all heads; of it all
  std::vector<ReplacedCost> costs;        // of the replacements, one after the other
};

class Encoder {
 public:
  using Take = std::function<void(EncodedLayer&&)>;

  explicit Encoder(EncoderWeights weights) : weights_(std::move(weights)) {}

  const EncoderShape& shape() const { return weights_.shape; }
  /// The files that the model was read from.
  const SourceFiles& files() const { return weights_.files; }

  /// Encodes a text: the ids of its tokens and their types, by default 0. `take` receives each
  /// layer as soon as it is done, on the calling thread. Returns the output of the model, [n,
  /// width]: the last hidden states, after the last norm where there is one. Throws InputError for
  /// no tokens, more than there are positions for, or one that does not exist; UnavailableError
  /// where they do not fit into the memory budget; Cancelled, within a few milliseconds.
  Matrix encode(std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                const Backend& backend, Run& run, const Take& take) const;
  Matrix encode(std::span<const std::int32_t> ids, const Backend& backend, Run& run,
                const Take& take) const {
    return encode(ids, {}, backend, run, take);
  }
  /// Encodes an image, cut into patches; pixels beyond the last whole patch are left out. Positions
  /// are interpolated, as transformers does it, unless the image has the size that the model was
  /// trained on.
  Matrix encode(const ImagePlanes& image, const Backend& backend, Run& run, const Take& take) const;
  /// encode() in steps. embed() makes the hidden states that go into the first layer. encode_from()
  /// runs the layers from `first` on; `replacements` take the place of attention in their heads.
  /// project() makes the Q, K and V of a layer from the hidden states that go into it; finish()
  /// turns these states into those after the layer.
  Matrix embed(std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
               const Backend& backend, Run& run) const;
  Matrix embed(const ImagePlanes& image, const Backend& backend, Run& run) const;
  Matrix encode_from(Index first, Matrix hidden, std::span<const Replacement> replacements,
                     const Backend& backend, Run& run, const Take& take) const;
  EncodedLayer project(Index layer, const Matrix& hidden, const Backend& backend, Run& run) const;
  void finish(EncodedLayer& layer, Matrix& hidden, std::span<const Replacement> replacements,
              const Backend& backend, Run& run) const;
  /// The patches of an image of this size. Throws InputError where it has none.
  PatchGrid patches_of(Index height, Index width) const;

 private:
  Matrix embedded(std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                  Run& run) const;
  Matrix embedding_normalised(Matrix hidden, const Backend& backend, Run& run) const;
  Matrix positions_for(PatchGrid grid, const std::stop_token& stop) const;
  void require_memory_for(Index tokens) const;

  EncoderWeights weights_;
};

/// The model of a folder: config.json, and model.safetensors or its shards. Throws InputError where
/// a file is missing or damaged, or they contradict each other; UnavailableError before the weights
/// are read where they do not fit into the memory budget; Cancelled.
std::unique_ptr<Encoder> read_encoder(const std::string& folder, const std::stop_token& stop = {});

}  // namespace fovea
