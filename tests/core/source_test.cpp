#include "data/source.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <span>

#include "data/error.h"

using namespace fovea;

namespace {

/// A row of elements given as bytes, `apart` bytes from one to the next, starting unaligned.
template <class Word>
Matrix read_words(ElementType type, const std::vector<Word>& words, bool big_endian = false) {
  std::vector<std::byte> bytes(1 + words.size() * sizeof(Word));
  std::memcpy(bytes.data() + 1, words.data(), words.size() * sizeof(Word));
  HeadTensor tensor{
      .type = type, .big_endian = big_endian, .bytes = bytes_in_memory(bytes, {}), .begin = 1};
  tensor.heads = tensor.rows = 1;
  tensor.cols = static_cast<Index>(words.size());
  tensor.col_stride = sizeof(Word);
  return tensor.read(0);
}

Matrix filled(Index rows, Index cols, float first) {
  Matrix out(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index c = 0; c < cols; ++c) out(i, c) = first + static_cast<float>(i * cols + c);
  return out;
}

Source grouped_source() {
  Layer layer{.name = "layer3"};
  std::vector<Matrix> q, k, v;
  for (int h = 0; h < 4; ++h) q.push_back(filled(3, 2, static_cast<float>(100 * h)));
  for (int h = 0; h < 2; ++h) {
    k.push_back(filled(3, 2, static_cast<float>(1000 * h)));
    v.push_back(filled(3, 5, static_cast<float>(2000 * h)));
  }
  layer.q = make_head_tensor(q);
  layer.k = make_head_tensor(k);
  layer.v = make_head_tensor(v);
  return {.path = "file.npz", .layers = {layer}};
}

std::string message_of(const Source& source, const HeadChoice& choice) {
  try {
    problem_of(source, choice);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every half is read as the number it stands for") {
  std::vector<std::uint16_t> words(65536);
  for (std::size_t w = 0; w < words.size(); ++w) words[w] = static_cast<std::uint16_t>(w);
  const Matrix values = read_words(ElementType::f16, words);
  for (int w = 0; w < 65536; ++w) {
    const int exponent = w >> 10 & 31, mantissa = w & 1023;
    const double sign = w & 0x8000 ? -1 : 1;
    // The definition of binary16, evaluated in double: exact, so the comparison is exact as well.
    const double expected = exponent == 31 ? (mantissa ? std::nan("") : sign * INFINITY)
                            : exponent     ? sign * std::ldexp(1024 + mantissa, exponent - 25)
                                           : sign * std::ldexp(mantissa, -24);
    const float found = values(0, w);
    const bool same = std::isnan(expected) ? std::isnan(found)
                                           : found == expected && std::signbit(found) == (sign < 0);
    if (!same) FAIL_CHECK("half " << w << " is read as " << found << ", not " << expected);
  }
}

TEST_CASE("bfloat16, float64 and big endian elements are converted, aligned or not") {
  const auto bf16 = read_words<std::uint16_t>(ElementType::bf16, {0x3f80, 0xc049, 0x7f80});
  CHECK(bf16(0, 0) == 1.0f);
  CHECK(bf16(0, 1) == -3.140625f);
  CHECK(std::isinf(bf16(0, 2)));
  CHECK(read_words<double>(ElementType::f64, {0.1})(0, 0) == 0.1f);
  CHECK(read_words<std::uint32_t>(ElementType::f32, {0x0000c03f}, true)(0, 0) == 1.5f);
  CHECK(read_words<std::uint16_t>(ElementType::f16, {0x003e}, true)(0, 0) == 1.5f);
  CHECK(read_words<std::uint64_t>(ElementType::f64, {0xf83f}, true)(0, 0) == 1.5f);
}

TEST_CASE("strides of any order are followed") {
  const float values[] = {0, 1, 2, 3, 4, 5};  // [cols 3][rows 2]: Fortran order
  HeadTensor tensor{.bytes = bytes_in_memory(std::as_bytes(std::span(values)), {})};
  tensor.heads = 1;
  tensor.rows = 2;
  tensor.cols = 3;
  tensor.row_stride = 4;
  tensor.col_stride = 8;
  const Matrix m = tensor.read(0);
  CHECK(m(0, 2) == 4);
  CHECK(m(1, 0) == 1);
  CHECK_THROWS_AS(tensor.read(1), UsageError);
}

TEST_CASE(
    "a head is read whole, in whatever pieces: rows side by side, apart, far apart, in columns") {
  // Sizes about the 4 KiB that are read along and the 256 KiB of one read.
  struct Shape {
    Index rows, cols, row_stride, col_stride;  // strides in elements
  };
  for (const Shape& s : {Shape{700, 200, 200, 1}, Shape{300, 64, 1024, 1}, Shape{50, 64, 4096, 1},
                         Shape{3, 70000, 70000, 1}, Shape{300, 70, 1, 300}, Shape{90, 3, 3, 3000},
                         Shape{2, 70000, 140000, 2}, Shape{5, 7, 14000, 2000}, Shape{1, 9, 0, 1},
                         Shape{9, 1, 1, 0}}) {
    const Index last = (s.rows - 1) * s.row_stride + (s.cols - 1) * s.col_stride;
    std::vector<float> values(static_cast<std::size_t>(2 * last + 2));
    for (std::size_t e = 0; e < values.size(); ++e) values[e] = static_cast<float>(e);
    const HeadTensor tensor{.bytes = bytes_in_memory(std::as_bytes(std::span(values)), {}),
                            .begin = 4,
                            .heads = 2,
                            .rows = s.rows,
                            .cols = s.cols,
                            .head_stride = 4 * last,
                            .row_stride = 4 * s.row_stride,
                            .col_stride = 4 * s.col_stride};
    const Matrix head = tensor.read(1);
    Index wrong = 0;
    for (Index i = 0; i < s.rows; ++i)
      for (Index c = 0; c < s.cols; ++c)
        wrong += head(i, c) != static_cast<float>(1 + last + i * s.row_stride + c * s.col_stride);
    CAPTURE(s.rows);
    CAPTURE(s.row_stride);
    CHECK(wrong == 0);
  }
}

TEST_CASE("query head h uses key and value head h / (Hq/Hkv): interleaved, not tiled") {
  const Source source = grouped_source();
  for (Index h = 0; h < 4; ++h) {
    const Problem problem = problem_of(source, {.head = h});
    CHECK(problem.q(0, 0) == static_cast<float>(100 * h));
    CHECK(problem.k(0, 0) == static_cast<float>(1000 * (h / 2)));
    CHECK(problem.v(2, 4) == static_cast<float>(2000 * (h / 2) + 14));
    CHECK(problem.head == h);
  }
}

TEST_CASE("scale and mask: the caller's, else the source's, else 1/sqrt(d) and none") {
  Source source = grouped_source();
  CHECK(problem_of(source, {}).scale == 1 / std::sqrt(2.0));
  CHECK_FALSE(problem_of(source, {}).causal);
  source.scale = 0.5;
  source.causal = true;
  CHECK(problem_of(source, {}).scale == 0.5);
  CHECK(problem_of(source, {}).causal);
  const Problem chosen = problem_of(source, {.scale = 2.0, .causal = false});
  CHECK(chosen.scale == 2.0);
  CHECK_FALSE(chosen.causal);
}

TEST_CASE("a scale that is given is a number above 0, and never silently replaced by the default") {
  for (const double scale : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_AS(problem_of(grouped_source(), {.scale = scale}), UsageError);
}

TEST_CASE("a head that cannot be computed is refused by name") {
  Source source = grouped_source();
  CHECK(message_of(source, {.layer = 1}) == "layer 1; expected 0 to 0");
  CHECK(message_of(source, {.head = 4}) == "head 4; expected 0 to 3");
  CHECK(message_of(source, {.head = -1}) == "head -1; expected 0 to 3");

  std::vector<Matrix> bad(2, filled(3, 5, 0));
  bad[1](2, 3) = std::numeric_limits<float>::quiet_NaN();
  source.layers[0].v = make_head_tensor(bad);
  CHECK(message_of(source, {.head = 1}).empty());
  CHECK(message_of(source, {.head = 2}) ==
        "file.npz, layer3: v of query head 2, position [2,3] is NaN; expected finite numbers");
  CHECK(message_of(source, {.head = 2, .allow_non_finite = true}).empty());

  source.layers[0].k.heads = 3;
  CHECK(message_of(source, {}).find("4 query heads, 3 key heads") != std::string::npos);
  source.layers[0] = {.attention = make_head_tensor({filled(3, 3, 0)})};
  CHECK(message_of(source, {}).find("without q and k") != std::string::npos);
}

TEST_CASE("a head whose logits may leave the range of a float is refused by query and key") {
  // 2 numbers of 1e19 and -1.5e19 each: the magnitudes of the products sum to 3e38, and for 2e19 to
  // 4e38.
  const auto message = [](float of_key, const HeadChoice& choice, Index key = 2, Index queries = 4,
                          LayerConditions conditions = {}) {
    Matrix q = filled(queries, 2, 0), k = filled(4, 2, 0);
    q(1, 0) = q(1, 1) = 1e19f;
    k(key, 0) = of_key, k(key, 1) = -of_key;
    Layer layer{.name = "layer3",
                .q = make_head_tensor({q}),
                .k = make_head_tensor({k}),
                .v = make_head_tensor({filled(4, 2, 0)})};
    layer.conditions = std::move(conditions);
    return message_of({.path = "file.npz", .layers = {layer}}, choice);
  };
  CHECK(message(1.5e19f, {.scale = 0.5}).empty());
  CHECK(message(2e19f, {.scale = 0.5}) ==
        "file.npz, layer3: logits may leave the range of fp32: the magnitudes of the products of q "
        "of query head 0, row 1, and k, row 2, sum to 4e+38; expected at most 3.40282e+38");
  CHECK(message(2e19f, {.allow_non_finite = true}).empty());
  CHECK(message(1.5e19f, {.scale = 0.6}).empty());  // 0.6 / ln 2 is below 1
  CHECK_FALSE(message(1.5e19f, {.scale = 0.9}).empty());
  // What a query does not see may hold anything.
  CHECK(message(2e19f, {.causal = true}).empty());
  CHECK_FALSE(message(2e19f, {.causal = true}, 1).empty());
  CHECK(message(2e19f, {.causal = true, .window = 1}, 0).empty());
  CHECK_FALSE(message(2e19f, {.causal = true, .window = 2}, 0).empty());
  CHECK_FALSE(message(2e19f, {.causal = true}, 3, 2).empty());  // the last query is token 3
  CHECK(message(2e19f, {.causal = true, .window = 2}, 1, 2).empty());
  const auto with_documents = [](std::vector<std::int32_t> documents) {
    LayerConditions conditions;
    conditions.documents = std::move(documents);
    return conditions;
  };
  CHECK(message(2e19f, {}, 2, 4, with_documents({0, 0, 1, 1})).empty());
  CHECK_FALSE(message(2e19f, {}, 2, 4, with_documents({0, 1, 1, 1})).empty());
  LayerConditions padded;
  Matrix counts = Matrix(1, 4);
  for (const Index key : {0, 1, 3}) counts(0, key) = 1;
  padded.mask = make_head_tensor({counts});
  CHECK(message(2e19f, {}, 2, 4, padded).empty());
  CHECK_FALSE(message(2e19f, {}, 3, 4, padded).empty());
}

TEST_CASE(
    "the range of a float holds for the keys that a query head shares, and for scaled queries") {
  Source source = grouped_source();
  std::vector<Matrix> q(4, filled(3, 2, 0)), k(2, filled(3, 2, 0));
  for (Matrix& of_head : q) of_head(1, 1) = 1e20f;
  k[1](0, 1) = -1e20f;
  source.layers[0].q = make_head_tensor(q);
  source.layers[0].k = make_head_tensor(k);
  CHECK(message_of(source, {.head = 1}).empty());
  CHECK(message_of(source, {.head = 3}).find("query head 3, row 1, and k, row 0") !=
        std::string::npos);
  // Of one number, and scaled by 1: q / ln 2 is no float, whatever the keys.
  const auto message = [](float number, std::optional<double> scale) {
    Matrix one(2, 1);
    one(1, 0) = number;
    return message_of({.path = "f.npz",
                       .layers = {{.name = "a",
                                   .q = make_head_tensor({one}),
                                   .k = make_head_tensor({Matrix(2, 1)}),
                                   .v = make_head_tensor({Matrix(2, 1)})}}},
                      {.scale = scale});
  };
  CHECK(message(3e38f, {}) ==
        "f.npz, a: logits may leave the range of fp32: q of query head 0, row 1, holds magnitudes "
        "up to 3e+38; expected at most 2.35866e+38");
  CHECK(message(3e38f, 0.5).empty());
  CHECK(message(2.3e38f, {}).empty());
}

TEST_CASE("a key that no query sees does not make opening a long head slow, whatever it holds") {
  constexpr Index n = 8192, d = 64;
  Matrix q(n, d), k(n, d);
  for (Index i = 0; i < n; ++i)
    for (Index c = 0; c < d; ++c) q(i, c) = 2, k(i, c) = 1;
  k(n - 1, 0) = 3e38f;
  Layer layer{.name = "",
              .q = make_head_tensor({q}),
              .k = make_head_tensor({k}),
              .v = make_head_tensor({Matrix(n, 1)})};
  Matrix counts(1, n);
  std::fill_n(counts.row(0), n - 1, 1.0f);
  layer.conditions.mask = make_head_tensor({counts});
  // With every query the product of 3e38 is out of range. Of all pairs there are 4e9 products.
  const std::clock_t begin = std::clock();
  CHECK(message_of({.path = "f.npz", .layers = {layer}}, {.scale = 1e-3}).empty());
  CHECK(double(std::clock() - begin) / CLOCKS_PER_SEC < 1);
}

TEST_CASE("a head that does not fit is refused with what it would need, before memory is taken") {
  HeadTensor huge{.heads = 1, .rows = Index{1} << 33, .cols = 64};  // 2 TiB
  CHECK_THROWS_WITH_AS(huge.read(0), doctest::Contains("2.00 TiB of memory needed"),
                       UnavailableError);
  const Source source{.path = "huge.npz",
                      .layers = {{.name = "", .q = huge, .k = huge, .v = huge}}};
  const std::string said = message_of(source, {});
  CHECK(said.find("huge.npz") != std::string::npos);
  CHECK(said.find("n = 8589934592: 6.00 TiB of memory needed") != std::string::npos);
}
