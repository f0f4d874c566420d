// Images are resized, cropped and normalised as transformers does it with Pillow.
#include "model/image_input.h"

#include <doctest/doctest.h>

#include <cmath>

#include "memory_budget.h"
#include "messages.h"
#include "model/fixture.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Picture picture_of(Index width, Index height) {
  return {width, height,
          std::vector<std::uint8_t>(static_cast<std::size_t>(3 * width * height), 9)};
}

}  // namespace

TEST_CASE("an image is prepared as Pillow does it") {
  for (const std::string name : {"vit_smaller", "vit_larger", "clip_wide", "bit_tall", "deit"}) {
    CAPTURE(name);
    const std::string folder = fixtures + "image_input/" + name;
    const Expected expected(folder);
    const auto sides = expected.shape("picture");
    const Picture picture{sides[1], sides[0], expected.values<std::uint8_t>("picture")};
    const ImageInput input = read_image_input(folder);
    const ImagePlanes found = input.prepare(picture);
    REQUIRE(expected.shape("pixels") == std::vector<Index>{3, found.height, found.width});
    const auto pixels = expected.values<float>("pixels");
    Index others = 0;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      // Pillow's weights are whole numbers of 22 bits: sums that end in a half may be rounded to
      // the other side. At most 1.4 % of the levels were, of pictures of 30 shapes.
      const float level = input.factor / input.deviation[i / (pixels.size() / 3)];
      const float difference = std::abs(found.values[i] - pixels[i]);
      CHECK(difference < 1.01f * level);
      others += difference > 0.01f * level;
    }
    CHECK(others <= std::ssize(pixels) / 50);
  }
}

TEST_CASE("an image says which part of the picture it shows, however its sides are scaled") {
  struct Row {
    std::string text;
    Picture picture;
    Index height, width, crop_height, crop_width;  // of the whole in pixels of the model, by hand
  };
  const Row rows[] = {
      {R"({"size": {"shortest_edge": 20}, "crop_size": {"height": 10, "width": 16}})",
       picture_of(60, 40), 20, 30, 10, 16},
      {R"({"size": {"shortest_edge": 20}, "crop_size": {"height": 10, "width": 16}})",
       picture_of(40, 100), 50, 20, 10, 16},
      {R"({"size": {"height": 20, "width": 90}, "crop_size": {"height": 10, "width": 16}})",
       picture_of(60, 40), 20, 90, 10, 16},
      {R"({"size": {"height": 80, "width": 24}, "crop_size": {"height": 50, "width": 20}})",
       picture_of(30, 20), 80, 24, 50, 20},
      {R"({"size": {"height": 32, "width": 8}})", picture_of(24, 16), 32, 8, 32, 8},
      {R"({"do_resize": false, "crop_size": {"height": 6, "width": 10}})", picture_of(30, 12), 12,
       30, 6, 10}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const ImagePlanes planes = parse_image_input("p", row.text).prepare(row.picture);
    CHECK(planes.height == row.crop_height);
    CHECK(planes.width == row.crop_width);
    // The crop is the middle of the whole: the picture's pixels, `step` of them for each.
    const double across = double(row.picture.width) / double(row.width),
                 down = double(row.picture.height) / double(row.height);
    const double left = double((row.width - row.crop_width) / 2),
                 top = double((row.height - row.crop_height) / 2);
    CHECK(planes.left == doctest::Approx(across * left));
    CHECK(planes.right == doctest::Approx(across * (left + double(row.crop_width))));
    CHECK(planes.top == doctest::Approx(down * top));
    CHECK(planes.bottom == doctest::Approx(down * (top + double(row.crop_height))));
  }
}

TEST_CASE("weights of a resampling sum to 1, and the same size changes nothing") {
  for (const Resampling kind :
       {Resampling::bilinear, Resampling::bicubic, Resampling::bicubic_points})
    for (const auto& [from, to] :
         {std::pair<Index, Index>{1, 1}, {1, 9}, {7, 7}, {37, 5}, {5, 37}}) {
      const auto all = resampling_taps(from, to, {0, to}, kind);
      for (Index i = 0; i < to; ++i) {
        double sum = 0;
        for (const double weight : all[i].weights) sum += weight;
        CHECK(sum == doctest::Approx(1).epsilon(1e-12));
        CHECK(all[i].first >= 0);
        CHECK(all[i].first + std::ssize(all[i].weights) <= from);
        if (from != to) continue;
        const double own = all[i].weights[i - all[i].first];
        CHECK(own == doctest::Approx(1).epsilon(1e-12));
      }
    }
}

TEST_CASE("old files state one size") {
  const ImageInput vit =
      parse_image_input("p", R"({"feature_extractor_type": "ViTFeatureExtractor", "size": 32})");
  CHECK(vit.height == 32);
  CHECK(vit.width == 32);
  const ImageInput clip = parse_image_input(
      "p", R"({"feature_extractor_type": "CLIPFeatureExtractor", "size": 32, "crop_size": 24})");
  CHECK(clip.shortest == 32);
  CHECK(clip.crop_height == 24);
}

TEST_CASE("pictures of one pixel and of strange shapes") {
  const ImageInput input = parse_image_input(
      "p", R"({"size": {"shortest_edge": 32}, "crop_size": {"height": 16, "width": 16}})");
  for (const auto& [width, height] : {std::pair<Index, Index>{1, 1}, {20000, 10}, {10, 20000}}) {
    const ImagePlanes planes = input.prepare(picture_of(width, height));
    CHECK(planes.values.size() == 3 * 16 * 16);
    for (const float value : planes.values) CHECK(value == doctest::Approx(9 / 255.0));
  }
  const ImageInput uncropped = parse_image_input("p", R"({"size": {"shortest_edge": 320}})");
  const Budget budget(std::size_t{64} << 20);
  const std::string message =
      message_of<UnavailableError>([&] { (void)uncropped.prepare(picture_of(20000, 10)); });
  check_says(message, {"an image of 320 x 640000 pixels", "of memory needed"});
}

TEST_CASE("a preprocessor_config.json that cannot be used") {
  const auto parse = [](const std::string& text) { return parse_image_input("p.json", text); };
  CHECK_SAYS(parse("{}"), "p.json: size is missing; expected height and width, or shortest_edge");
  CHECK_SAYS(parse(R"({"size": {"longest_edge": 3}})"), "expected height and width, or shortest");
  CHECK_SAYS(parse(R"({"size": {"shortest_edge": 3, "longest_edge": 5}})"), "shortest_edge alone");
  CHECK_SAYS(parse(R"({"size": {"height": 0, "width": 3}})"), "p.json, size: height is 0");
  CHECK_SAYS(parse(R"({"size": 3, "resample": 1})"), "resample is 1; expected 2, bilinear, or 3");
  CHECK_SAYS(parse(R"({"size": 3, "image_std": [1, 1]})"), "image_std is [1,1]; expected three");
  CHECK_SAYS(parse(R"({"size": 3, "image_std": [1, 1, 0]})"), "image_std");
  CHECK_SAYS(parse(R"({"size": 3, "rescale_factor": 0})"), "rescale_factor is 0");
  CHECK_SAYS(parse_image_input("p", R"({"do_resize": false, "crop_size": 20})")
                 .prepare(picture_of(30, 10)),
             "10 x 30 pixels", "expected at least 20 x 20, the size of the crop");
  CHECK_SAYS(read_image_input("/nowhere"), "preprocessor_config.json: there is no such file");
}
