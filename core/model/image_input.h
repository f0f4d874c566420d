// An ImageInput is how a model wants its images: what preprocessor_config.json says of size, crop
// and colours.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "data/source.h"
#include "model/resampling.h"

namespace fovea {

/// What a model reads: three channels of floats.
struct ImagePlanes {
  Index height = 0, width = 0;
  std::vector<float> values;  // [3, height, width]
  /// The part of the picture that they show, in its pixels.
  double left = 0, top = 0, right = 0, bottom = 0;

  const float* row(Index channel, Index y) const {
    return values.data() + (channel * height + y) * width;
  }
};

struct ImageInput {
  /// 0: as the picture has it. `shortest`: of the shorter side, the other follows.
  Index shortest = 0, height = 0, width = 0;
  Index crop_height = 0, crop_width = 0;  // from the middle; 0 means all
  Resampling resampling = Resampling::bicubic;
  float factor = 1.0f / 255;  // of a channel of 8 bits
  std::array<float, 3> mean{}, deviation{1, 1, 1};

  /// Throws InputError for a picture that is too small for the crop; UnavailableError where the
  /// result does not fit into the memory budget; Cancelled.
  ImagePlanes prepare(const Picture& picture, const std::stop_token& stop = {}) const;
};

/// `where`: what messages call the file. Throws InputError for what an ImageInput cannot do.
ImageInput parse_image_input(const std::string& where, std::string_view text,
                             const std::stop_token& stop = {});

/// preprocessor_config.json of the folder of a model.
ImageInput read_image_input(const std::string& folder, const std::stop_token& stop = {});

}  // namespace fovea
