#include <doctest/doctest.h>

#include <cmath>

#include "data/content_features.h"
#include "messages.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

double dot(const Matrix& q, Index i, Index j) {
  double sum = 0;
  for (Index c = 0; c < q.cols(); ++c) sum += double{q(i, c)} * q(j, c);
  return sum;
}

void check_unit_rows(const Matrix& q) {
  for (Index i = 0; i < q.rows(); ++i)  // d float roundings at most
    CHECK(std::abs(dot(q, i, i) - 1) < static_cast<double>(q.cols()) * 1.2e-7);
}

bool same(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::equal(a.data(), a.data() + a.rows() * a.stride(), b.data());
}

Picture picture_of(Index width, Index height, auto colour) {
  Picture out{width, height, {}};
  for (Index y = 0; y < height; ++y)
    for (Index x = 0; x < width; ++x)
      for (Index c = 0; c < 3; ++c) out.rgb.push_back(static_cast<std::uint8_t>(colour(x, y, c)));
  return out;
}

auto noise = [](Index x, Index y, Index c) {
  return (x * 7919 + y * 104729 + c * 31 + x * y) % 256;
};

}  // namespace

TEST_CASE(
    "text features: equal words agree, related ones more than unrelated, near more than far") {
  const std::vector<std::string> tokens = {"attention", "attend", "zebra", "Attention", "zebra",
                                           "über",      "Übung",  "注意",  "注目",      "zebra"};
  const ContentHead head = text_features(tokens, 64);
  CHECK(head.q.cols() == 64);
  CHECK(head.v.empty());
  CHECK(head.scale == doctest::Approx(std::log(10.0) + 2));
  check_unit_rows(head.q);
  CHECK(dot(head.q, 0, 3) > .85);  // case does not count; .8 content and most of the place
  CHECK(dot(head.q, 0, 1) > dot(head.q, 0, 2) + .2);
  CHECK(dot(head.q, 7, 8) > dot(head.q, 7, 5));
  CHECK(dot(head.q, 2, 4) > dot(head.q, 2, 9));
  CHECK(same(head.q, text_features(tokens, 64).q));
}

TEST_CASE("text features: any d from 8 on, any token") {
  for (const Index d : {8, 9, 31, 64, 200}) {
    const ContentHead head =
        text_features(std::vector<std::string>{"", "a", std::string(5000, 'x')}, d);
    CHECK(head.q.cols() == d);
    check_unit_rows(head.q);
  }
  check_says(message_of<UsageError>([] { text_features(std::vector<std::string>{"a"}, 7); }),
             {"7", "at least 8"});
}

TEST_CASE("image features: V is the mean colour and the patch, equal patches agree") {
  const Picture picture = picture_of(32, 16, noise);
  const ContentHead head = image_features(picture, 4, 64);
  REQUIRE(head.q.rows() == 32);
  REQUIRE(head.v.cols() == 3 + 4 * 4 * 3);
  check_unit_rows(head.q);
  CHECK(head.scale == doctest::Approx(std::log(32.0) + 3));
  const Index patch = 1 * 8 + 2;  // row 1, column 2
  double mean[3] = {};
  for (Index y = 0; y < 4; ++y)
    for (Index x = 0; x < 4; ++x)
      for (Index c = 0; c < 3; ++c) {
        const double pixel = static_cast<double>(noise(8 + x, 4 + y, c)) / 255;
        mean[c] += pixel / 16;
        CHECK(head.v(patch, 3 + (y * 4 + x) * 3 + c) == doctest::Approx(pixel).epsilon(1e-6));
      }
  for (Index c = 0; c < 3; ++c) CHECK(head.v(patch, c) == doctest::Approx(mean[c]).epsilon(1e-5));
  CHECK(same(head.q, image_features(picture, 4, 64).q));
}

TEST_CASE("image features: a large patch is held as 8 x 8 cells") {
  const ContentHead head = image_features(picture_of(24, 12, noise), 12, 64);
  CHECK(head.v.cols() == 3 + 8 * 8 * 3);
  double sum = 0;  // a flat patch has flat cells, whatever number of pixels they hold
  const ContentHead flat =
      image_features(picture_of(24, 12, [](Index, Index, Index) { return 51; }), 12, 64);
  for (Index c = 0; c < flat.v.cols(); ++c) sum += std::abs(double{flat.v(0, c)} - .2);
  CHECK(sum / static_cast<double>(flat.v.cols()) < 1e-6);
}

TEST_CASE("image features: content is found again at another place") {
  // Two marks of the same kind in noise-free ground, far apart.
  const Picture picture = picture_of(64, 64, [](Index x, Index y, Index c) {
    const bool mark = (x / 8 == 1 && y / 8 == 1) || (x / 8 == 6 && y / 8 == 5);
    const bool other = x / 8 == 2 && y / 8 == 6;
    return mark ? (c == 0 ? 250 : 20) : other ? (c == 2 ? 250 : 20) : 128 + (x * 3 + y * 5) % 7;
  });
  const ContentHead head = image_features(picture, 8, 64);
  CHECK(dot(head.q, 8 + 1, 5 * 8 + 6) > .65);
  CHECK(dot(head.q, 8 + 1, 5 * 8 + 6) > dot(head.q, 8 + 1, 6 * 8 + 2) + .3);
}

TEST_CASE("image features: flat pictures, one patch and single pixels are finite") {
  const Picture flat = picture_of(16, 16, [](Index, Index, Index) { return 77; });
  check_unit_rows(image_features(flat, 8, 64).q);
  check_unit_rows(image_features(flat, 16, 64).q);
  const ContentHead pixels = image_features(picture_of(20, 10, noise), 1, 64);
  CHECK(pixels.q.rows() == 200);
  CHECK(pixels.v.cols() == 3);
  CHECK(pixels.q.cols() == 16 + 3);
  check_unit_rows(pixels.q);
}
