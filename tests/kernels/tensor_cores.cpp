// Attention in 16 bits, on a device or on the emulated one, against float64 and against the plain
// formula on rounded numbers.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "backend/backends.h"
#include "data/error.h"
#include "kernels/checks_16.h"
#include "kernels/other_backends.h"
#include "kernels/query_tile_shapes.h"
#include "laws/cases.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const std::vector<Format>& formats_16() {
  static const auto made = [] {
    std::vector<Format> list;
    list.push_back({"bf16", to_bf16, from_bf16, on_gpu("bf16")});
    list.push_back({"fp16", to_fp16, from_fp16, on_gpu("fp16")});
    return list;
  }();
  return made;
}

void check_exact(Data data, Shape shape, bool causal) {
  const Problem problem = make_data(data, shape.n, shape.d, shape.dv, causal);
  for (const Format& format : formats_16()) {
    CAPTURE(format.name);
    CAPTURE(static_cast<int>(data));
    CAPTURE(shape.n);
    CAPTURE(shape.d);
    CAPTURE(shape.dv);
    CAPTURE(causal);
    check_error(make_instance(*format.backend, problem, "exact", {}), format);
  }
}

}  // namespace

TEST_CASE("reference: 16-bit numbers round to the nearest, ties to even") {
  for (const auto& [round, widen, infinity] :
       {std::tuple<Round, Widen, int>{to_bf16, from_bf16, 0x7f80},
        std::tuple<Round, Widen, int>{to_fp16, from_fp16, 0x7c00}})
    for (int bits = 0; bits + 1 < infinity; ++bits) {
      const float low = widen(static_cast<std::uint16_t>(bits)),
                  high = widen(static_cast<std::uint16_t>(bits + 1)), middle = low / 2 + high / 2;
      const bool whole = round(low) == bits && round(-low) == (bits | 0x8000) &&
                         round(middle) == bits + bits % 2 &&
                         round(std::nextafter(middle, low)) == bits &&
                         round(std::nextafter(middle, high)) == bits + 1;
      // The smallest bf16 have no float between: those of float are as small.
      const bool tight = middle == low || middle == high || std::nextafter(middle, high) == high;
      if (!whole && !tight) FAIL(bits);
    }
  CHECK(from_bf16(0x3f80) == 1);
  CHECK(from_bf16(0xc049) == -3.140625f);
  CHECK(from_fp16(0x3c00) == 1);
  CHECK(from_fp16(0xc248) == -3.140625f);
  CHECK(from_fp16(0x0001) == 0x1p-24f);
  CHECK(to_fp16(65519) == 0x7bff);
  CHECK(to_fp16(65520) == 0x7c00);
  CHECK(std::isnan(from_bf16(to_bf16(NAN))));
  CHECK(std::isnan(from_fp16(to_fp16(NAN))));
}

TEST_CASE("tensor cores: Z has at most twice the error of the formula on 16-bit numbers") {
  for (const Shape shape : {Shape{1, 3, 5}, {63, 1, 64}, {65, 64, 80}, {200, 80, 3}})
    for (const Data data : {Data::gaussian, Data::equal, Data::huge, Data::spike})
      for (const bool causal : {false, true}) check_exact(data, shape, causal);
}

TEST_CASE("tensor cores: the same for many columns of Q, K and V") {
  for (const Shape shape : {Shape{65, 128, 128},
                            {63, 256, 256},
                            {65, 128, 200},
                            {65, 256, 1},
                            {1, 128, 300},
                            {65, 3, 300},
                            {63, 300, 65}})
    for (const Data data : {Data::gaussian, Data::huge})
      check_exact(data, shape, data == Data::huge);
}

TEST_CASE("tensor cores: the same for query tiles of 64 and of 128 queries, on a sample of rows") {
  for (const Format& format : formats_16())
    for (const Shape shape : query_tile_shapes())
      for (const bool causal : {false, true}) {
        CAPTURE(format.name);
        CAPTURE(shape.n);
        CAPTURE(shape.d);
        CAPTURE(shape.dv);
        CAPTURE(causal);
        check_rows(make_data(Data::gaussian, shape.n, shape.d, shape.dv, causal), format);
      }
}

TEST_CASE("tensor cores: the same for every variant") {
  for (const Format& format : formats_16())
    for (const Case& c : cases())
      for (const bool causal : masks_of(c)) {
        CAPTURE(format.name);
        CAPTURE(describe(c));
        CAPTURE(causal);
        const Data data = causal ? Data::huge : Data::gaussian;
        const Problem problem = make_data(data, 70, 16, 9, causal, c.head);
        check_error(make_instance(*format.backend, problem, c.id, c.settings), format);
      }
}

TEST_CASE("tensor cores: log-sum-exp is off by no more than rounding moves a logit") {
  for (const Format& format : formats_16())
    for (const Data data : {Data::gaussian, Data::huge}) {
      const Problem problem = make_data(data, 130, 64, 8, true);
      const Instance x = make_instance(*format.backend, problem, "exact", {}),
                     fp32 = make_instance(*backends().front(), problem, "exact", {});
      const Output ours = x.apply(problem.v), truth = fp32.apply(problem.v);
      const double unit = format.widen == from_bf16 ? 0x1p-9 : 0x1p-12;
      for (Index i = 0; i < problem.n(); ++i) {
        double most = 0;  // sum of |q k| over columns: two roundings of relative size `unit` each
        for (Index j = 0; j <= i; ++j) {
          double products = 0;
          for (Index c = 0; c < 64; ++c) products += std::abs(problem.q(i, c) * problem.k(j, c));
          most = std::max(most, problem.scale * products);
        }
        const auto row = static_cast<std::size_t>(i);
        CHECK(std::abs(ours.lse[row] - truth.lse[row]) <= 2.1 * unit * most + 1e-5);
      }
    }
}

TEST_CASE("tensor cores: entries of P are those of fp32, bit for bit, before Z and after it") {
  for (const Format& format : formats_16())
    for (const char* id : {"exact", "h1d"}) {
      const Problem problem = make_data(Data::huge, 97, 16, 9, false);
      const Instance x = make_instance(*format.backend, problem, id, {}),
                     fp32 = make_instance(*backends().front(), problem, id, {});
      const Matrix truth = fp32.all(), before = x.all();
      x.apply(problem.v);
      const Matrix after = x.all();
      bool same = true;
      for (Index i = 0; i < 97; ++i)
        for (Index j = 0; j < 97; ++j)
          same &= before(i, j) == truth(i, j) && after(i, j) == truth(i, j);
      CHECK(same);
    }
}

TEST_CASE("tensor cores: what a query may not see leaves its Z unchanged, bit for bit") {
  for (const Format& format : formats_16()) {
    const Index n = 140, changed = 101;
    const Problem before = make_data(Data::gaussian, n, 20, 12, true);
    Matrix q = Matrix::copy_of(before.q), k = Matrix::copy_of(before.k),
           v = Matrix::copy_of(before.v);
    for (Index c = 0; c < 20; ++c) {
      q(changed, c) = std::numeric_limits<float>::quiet_NaN();
      k(changed, c) *= 50;
    }
    for (Index c = 0; c < 12; ++c) v(changed, c) = -100;
    const Problem after = make_problem(std::move(q), std::move(k), std::move(v), 0, true);
    const Output a = make_instance(*format.backend, before, "exact", {}).apply(before.v),
                 b = make_instance(*format.backend, after, "exact", {}).apply(after.v);
    bool same = true, finite = true;
    for (Index c = 0; c < 12; ++c) {
      for (Index i = 0; i < changed; ++i) same &= a.z(i, c) == b.z(i, c);
      for (Index i = changed + 1; i < n; ++i) finite &= std::isfinite(b.z(i, c));
      CHECK(std::isnan(b.z(changed, c)));
    }
    CHECK(same);
    CHECK(finite);
  }
}

TEST_CASE("precision: the back end reports it, and refuses an unknown one") {
  for (const char* name : {"fp32", "fp32-split", "bf16", "fp16"})
    CHECK(on_gpu(name)->precision() == name);
  std::string why_not;
  CHECK(make_cuda_backend({}, &why_not)->precision() == "fp32");
  CHECK_THROWS_AS(make_cuda_backend({.precision = "fp8"}, &why_not), UsageError);
}

TEST_CASE("precision: fp16 refuses numbers beyond its range, bf16 takes them") {
  const Format &bf16 = formats_16()[0], &fp16 = formats_16()[1];
  Problem problem = make_data(Data::gaussian, 20, 4, 3, false);
  Matrix k = Matrix::copy_of(problem.k), v = Matrix::copy_of(problem.v);
  k(7, 1) = 70000;
  v(5, 2) = -70000;
  const Problem big_key = make_problem(Matrix::copy_of(problem.q), k, Matrix::copy_of(problem.v)),
                big_value = make_problem(Matrix::copy_of(problem.q), Matrix::copy_of(problem.k), v);
  CHECK_THROWS_AS(make_instance(*fp16.backend, big_key, "exact", {}), UnavailableError);
  const Instance x = make_instance(*fp16.backend, big_value, "exact", {});
  CHECK_THROWS_AS(x.apply(big_value.v), UnavailableError);
  CHECK_NOTHROW(x.apply(problem.v));
  check_error(make_instance(*bf16.backend, big_key, "exact", {}), bf16);
  check_error(make_instance(*bf16.backend, big_value, "exact", {}), bf16);
}

TEST_CASE("tensor cores: a device of compute capability 9.0 has products of warpgroups") {
  std::string why_not;
  const auto device = find_cuda_device(&why_not);
  REQUIRE_MESSAGE(device, why_not);
  const char* wanted = std::getenv("FOVEA_WGMMA");
  CHECK(device->wgmma == (device->capability == 90 && (!wanted || *wanted != '0')));
}
