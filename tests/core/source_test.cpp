#include "data/source.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
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
  const Problem chosen = problem_of(source, {.conditions = {.causal = false, .scale = 2.0}});
  CHECK(chosen.scale == 2.0);
  CHECK_FALSE(chosen.causal);
}

TEST_CASE("a scale that is given is a number above 0, and never silently replaced by the default") {
  for (const double scale : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_AS(problem_of(grouped_source(), {.conditions = {.scale = scale}}), UsageError);
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
        "file.npz, layer3: v of query head 2, position [2,3] is NaN; expected finite numbers "
        "of magnitude up to 1e+14");
  CHECK(message_of(source, {.head = 2, .allow_non_finite = true}).empty());

  source.layers[0].k.heads = 3;
  CHECK(message_of(source, {}).find("4 query heads, 3 key heads") != std::string::npos);
  source.layers[0] = {.attention = make_head_tensor({filled(3, 3, 0)})};
  CHECK(message_of(source, {}).find("without q and k") != std::string::npos);
}

TEST_CASE("numbers beyond what is computed with are refused by position, or count as NaN") {
  Source source = grouped_source();
  const auto with = [&](HeadTensor Layer::*tensor, float number, Index row, Index col) {
    Source other = source;
    const HeadTensor& old = source.layers[0].*tensor;
    std::vector<Matrix> heads;
    for (Index h = 0; h < old.heads; ++h) heads.push_back(old.read(h));
    heads[1](row, col) = number;
    other.layers[0].*tensor = make_head_tensor(heads);
    return other;
  };
  const auto is_nan = [](float x) { return std::isnan(x); };
  for (const float number : {2e14f, -3e38f, std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity()}) {
    CAPTURE(number);
    const std::string written = std::isinf(number) ? (number > 0 ? "Inf" : "-Inf")
                                : number > 0       ? "2e+14"
                                                   : "-3e+38";
    // Heads 2 and 3 share the second keys and values.
    struct Place {
      HeadTensor Layer::*tensor;
      const char* name;
      Index head;
    };
    for (const Place& at : {Place{&Layer::q, "q", 1}, {&Layer::k, "k", 3}, {&Layer::v, "v", 2}}) {
      CAPTURE(at.name);
      const Source bad = with(at.tensor, number, 2, 1);
      CHECK(message_of(bad, {.head = 0}).empty());
      CHECK(message_of(bad, {.head = at.head}) ==
            std::string("file.npz, layer3: ") + at.name + " of query head " +
                std::to_string(at.head) + ", position [2,1] is " + written +
                "; expected finite numbers of magnitude up to 1e+14");
      const Problem problem = problem_of(bad, {.head = at.head, .allow_non_finite = true});
      Index count = 0;
      for (const MatrixView m : {problem.q, problem.k, problem.v})
        for (Index i = 0; i < m.rows; ++i)
          count += std::count_if(m.row(i), m.row(i) + m.cols, is_nan);
      CHECK(count == 1);
    }
  }
  CHECK(message_of(with(&Layer::q, 1e14f, 0, 0), {.head = 1}).empty());
  CHECK(message_of(with(&Layer::v, -1e14f, 0, 0), {.head = 2}).empty());
}

TEST_CASE("a scale with which logits may be too large is refused, whether or not NaN is allowed") {
  const Source source = grouped_source();  // d = 2; head 3 has numbers up to 1005 in q and k
  CHECK(message_of(source, {.head = 3, .conditions = {.scale = 4e23}}).empty());
  for (const bool allowed : {false, true})
    CHECK(
        message_of(source,
                   {.head = 3, .conditions = {.scale = 1e24}, .allow_non_finite = allowed}) ==
        "file.npz, layer3: scale 1e+24 is too large for d = 2 and numbers up to x = 1005 in q and "
        "k: scale * max(1, d x^2) is 2.02005e+30; expected at most 1e+30");
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
