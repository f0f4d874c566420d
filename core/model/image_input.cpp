#include "model/image_input.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "data/error.h"
#include "data/memory.h"
#include "data/stop.h"
#include "io/file_bytes.h"
#include "io/json.h"
#include "model/config.h"

namespace fovea {
namespace {

struct Size {
  Index height = 0, width = 0;
};

std::string text_of(Size size) {
  return std::to_string(size.height) + " x " + std::to_string(size.width);
}

/// Three bytes a pixel.
struct Pixels {
  Size size;
  std::vector<std::uint8_t> rgb;
  std::uint8_t* row(Index y) { return rgb.data() + y * size.width * 3; }
};

Pixels empty_pixels(Size size) {
  require_memory(3.0 * static_cast<double>(size.height) * static_cast<double>(size.width),
                 "an image of " + text_of(size) + " pixels");
  return {size, std::vector<std::uint8_t>(size.height * size.width * 3)};
}

std::uint8_t rounded(double value) {
  return static_cast<std::uint8_t>(std::clamp(std::floor(value + 0.5), 0.0, 255.0));
}

/// Along rows, then along columns, rounded to 8 bits after each, as Pillow does it. (Pillow 13
/// begins with the columns of some tall pictures; up to a quarter of the levels are then one off.)
Pixels resample(const Picture& picture, const std::vector<Taps>& down,
                const std::vector<Taps>& across, const std::stop_token& stop) {
  const IndexRange rows{down.front().first, down.back().first + std::ssize(down.back().weights)};
  const auto width = std::ssize(across);
  Pixels narrow = empty_pixels({rows.size(), width});
  for_each_row(rows.size(), stop, [&](Index y) {
    const std::uint8_t* from = picture.rgb.data() + (rows.begin + y) * picture.width * 3;
    std::uint8_t* to = narrow.row(y);
    for (const Taps& taps : across)
      for (Index channel = 0; channel < 3; ++channel) {
        double sum = 0;
        for (Index tap = 0; tap < std::ssize(taps.weights); ++tap)
          sum += taps.weights[tap] * from[(taps.first + tap) * 3 + channel];
        *to++ = rounded(sum);
      }
  });
  Pixels out = empty_pixels({std::ssize(down), width});
  for_each_row(std::ssize(down), stop, [&](Index y) {
    const Taps& taps = down[y];
    std::uint8_t* to = out.row(y);
    for (Index x = 0; x < width * 3; ++x) {
      double sum = 0;
      for (Index tap = 0; tap < std::ssize(taps.weights); ++tap)
        sum += taps.weights[tap] * narrow.row(taps.first - rows.begin + tap)[x];
      to[x] = rounded(sum);
    }
  });
  return out;
}

Size whole_size(const ImageInput& input, const Picture& picture) {
  if (input.height > 0) return {input.height, input.width};
  if (input.shortest == 0) return {picture.height, picture.width};
  const auto longer = [&](Index side, Index shorter) {
    return static_cast<Index>(static_cast<double>(input.shortest) * static_cast<double>(side) /
                              static_cast<double>(shorter));
  };
  if (picture.width <= picture.height)
    return {longer(picture.height, picture.width), input.shortest};
  return {input.shortest, longer(picture.width, picture.height)};
}

void read_size(const Config& config, ImageInput& input) {
  const Json* size = config.find("size");
  if (!size) config.refuse("size", "height and width, or shortest_edge");
  if (!size->is_object()) {
    // As transformers wrote it up to version 4.20: of both sides, or of the shorter one.
    const std::string type =
        config.text("image_processor_type", config.text("feature_extractor_type", "").c_str());
    const Index side = config.count("size", 0);
    if (type.starts_with("CLIP") || type.starts_with("Bit"))
      input.shortest = side;
    else
      input.height = input.width = side;
    return;
  }
  const Config sides = config.section("size");
  if (sides.find("height") && sides.find("width")) {
    input.height = sides.count("height", 0);
    input.width = sides.count("width", 0);
  } else if (sides.find("shortest_edge") && !sides.find("longest_edge")) {
    input.shortest = sides.count("shortest_edge", 0);
  } else {
    config.refuse("size", "height and width, or shortest_edge alone");
  }
}

void read_crop(const Config& config, ImageInput& input) {
  const Json* size = config.find("crop_size");
  if (!size || !size->is_object()) {
    input.crop_height = input.crop_width = config.count("crop_size", 224);
    return;
  }
  const Config sides = config.section("crop_size");
  input.crop_height = sides.count("height", 224);
  input.crop_width = sides.count("width", 224);
}

void read_resampling(const Config& config, ImageInput& input) {
  constexpr Index bilinear = 2, bicubic = 3;  // of Pillow
  const Index number = config.count("resample", bicubic, 0);
  if (number != bilinear && number != bicubic)
    config.refuse("resample", "2, bilinear, or 3, bicubic");
  input.resampling = number == bilinear ? Resampling::bilinear : Resampling::bicubic;
}

void read_channels(const Config& config, const char* name, double least,
                   std::array<float, 3>& out) {
  const Json* list = config.find(name);
  if (!list) return;
  bool good = list->is_array() && list->size() == 3;
  for (std::size_t channel = 0; good && channel < 3; ++channel) {
    const Json& value = (*list)[channel];
    good = value.is_number() && value.get<double>() >= least && value.get<double>() <= 1e6;
    if (good) out[channel] = value.get<float>();
  }
  if (!good) config.refuse(name, "three positive numbers");
}

}  // namespace

ImagePlanes ImageInput::prepare(const Picture& picture, const std::stop_token& stop) const {
  if (picture.width < 1 || picture.height < 1)
    throw InputError("", "an image without pixels; expected at least one");
  const Size whole = whole_size(*this, picture);
  const Size size = crop_height > 0 ? Size{crop_height, crop_width} : whole;
  if (size.height > whole.height || size.width > whole.width)
    throw InputError("", "an image of " + text_of({picture.height, picture.width}) +
                             " pixels, of which preprocessor_config.json makes " + text_of(whole) +
                             "; expected at least " + text_of(size) + ", the size of the crop");
  const double pixels = static_cast<double>(size.height) * static_cast<double>(size.width);
  require_memory(3 * sizeof(float) * pixels, "an image of " + text_of(size) + " pixels");
  const Index top_row = (whole.height - size.height) / 2,
              left_column = (whole.width - size.width) / 2;
  const auto down = resampling_taps(picture.height, whole.height, {top_row, top_row + size.height},
                                    resampling),
             across = resampling_taps(picture.width, whole.width,
                                      {left_column, left_column + size.width}, resampling);
  Pixels resampled = resample(picture, down, across, stop);

  const double step_down = static_cast<double>(picture.height) / static_cast<double>(whole.height),
               step_across = static_cast<double>(picture.width) / static_cast<double>(whole.width);
  ImagePlanes out{.height = size.height,
                  .width = size.width,
                  .values = std::vector<float>(static_cast<std::size_t>(3 * pixels)),
                  .left = static_cast<double>(left_column) * step_across,
                  .top = static_cast<double>(top_row) * step_down,
                  .right = static_cast<double>(left_column + size.width) * step_across,
                  .bottom = static_cast<double>(top_row + size.height) * step_down};
  for (std::size_t channel = 0; channel < 3; ++channel)
    for_each_row(size.height, stop, [&](Index y) {
      const std::uint8_t* from = resampled.row(y) + channel;
      float* to = out.values.data() + (static_cast<Index>(channel) * size.height + y) * size.width;
      for (Index x = 0; x < size.width; ++x)
        to[x] = (static_cast<float>(from[3 * x]) * factor - mean[channel]) / deviation[channel];
    });
  return out;
}

ImageInput parse_image_input(const std::string& where, std::string_view text,
                             const std::stop_token& stop) {
  const Json json = parse_json(where, text, stop);
  const Config config(where, json);
  ImageInput input;
  if (config.flag("do_resize", true)) {
    read_size(config, input);
    read_resampling(config, input);
  }
  // The processors that crop are those that have a size for it.
  if (config.flag("do_center_crop", config.find("crop_size") != nullptr)) read_crop(config, input);
  if (config.flag("do_rescale", true))
    input.factor = static_cast<float>(config.number("rescale_factor", 1.0 / 255, 1e-9, 1e9));
  else
    input.factor = 1;
  if (config.flag("do_normalize", true)) {
    read_channels(config, "image_mean", 0, input.mean);
    read_channels(config, "image_std", 1e-9, input.deviation);
  }
  return input;
}

ImageInput read_image_input(const std::string& folder, const std::stop_token& stop) {
  const FileBytes file((std::filesystem::path(folder) / "preprocessor_config.json").string());
  return parse_image_input(file.path(), file.text(stop), stop);
}

}  // namespace fovea
