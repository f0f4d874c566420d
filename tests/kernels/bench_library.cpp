// The C interface of the benchmark, which torch_peers.py uses.
#include <doctest/doctest.h>

#include <cmath>
#include <sstream>
#include <string>

#include "backend/backends.h"
#include "bench/entry.h"
#include "bench/library.h"
#include "laws/cases.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr long long n = 128, heads = 2, d = 64;

struct Heads {
  std::vector<float> q, k, v;
};
Heads heads_of(bool causal) {
  Heads out;
  for (int h = 0; h < heads; ++h) {
    const Problem one = make_data(Data::gaussian, n, d, d, causal, h);
    const auto append = [](std::vector<float>& to, MatrixView from) {
      for (Index i = 0; i < from.rows; ++i)
        to.insert(to.end(), from.row(i), from.row(i) + from.cols);
    };
    append(out.q, one.q);
    append(out.k, one.k);
    append(out.v, one.v);
  }
  return out;
}

}  // namespace

// With 16 rows some of these heads had errors of more than twice the plain formula's by chance.
TEST_CASE("benchmark: exact attention in fp32 is accurate, for each of twelve heads") {
  for (const char* precision : {"fp32", "fp32-split"}) {
    std::string why_not;
    const auto backend = make_cuda_backend({.precision = precision}, &why_not);
    REQUIRE_MESSAGE(backend, why_not);
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      CAPTURE(std::string(precision));
      CAPTURE(seed);
      const std::vector<Problem> heads{make_data(Data::gaussian, 256, d, d, false, 0, seed)};
      const bench::Gate gate = bench::Entry(*backend, {"exact", precision}, heads, heads.front())
                                   .gate(bench::sampled_rows);
      CHECK_MESSAGE(gate.passed(), gate.reason());
    }
  }
}

TEST_CASE("benchmark: every contender is accurate, and runs by its C interface") {
  REQUIRE(fovea_bench_device() != nullptr);
  for (const int causal : {0, 1}) {
    const Heads x = heads_of(causal != 0);
    std::istringstream lines(fovea_bench_contenders(n, causal));
    std::string id, precision;
    int tried = 0;
    while (lines >> id >> precision) {
      CAPTURE(id);
      CAPTURE(precision);
      CAPTURE(causal);
      fovea_bench* const entry = fovea_bench_open(id.c_str(), precision.c_str(), n, heads, d,
                                                  causal, x.q.data(), x.k.data(), x.v.data());
      if (!entry) {
        CHECK_MESSAGE(causal == 1, fovea_bench_message());
        continue;
      }
      double errors[4] = {}, times[2] = {-1, -1};
      const int passed = fovea_bench_gate(entry, errors);
      CHECK_MESSAGE(passed == 1, fovea_bench_message());
      std::vector<float> z(x.v.size(), NAN);
      CHECK(fovea_bench_run(entry, times, z.data()) == 0);
      CHECK(times[0] > 0);
      CHECK(times[1] >= 0);
      bool finite = true;
      for (const float value : z) finite &= std::isfinite(value);
      CHECK(finite);
      CHECK(fovea_bench_end_to_end(entry) > 0);
      fovea_bench_close(entry);
      ++tried;
    }
    CHECK(tried >= 10);
  }
}

TEST_CASE("benchmark: what is not there is refused with a message") {
  const Heads x = heads_of(false);
  const auto message_of = [&](const char* id, const char* precision) {
    fovea_bench* const entry =
        fovea_bench_open(id, precision, n, heads, d, 0, x.q.data(), x.k.data(), x.v.data());
    CHECK(entry == nullptr);
    return std::string(fovea_bench_message());
  };
  CHECK(message_of("nothing", "fp32") == "no contender nothing in fp32");
  CHECK(message_of("exact", "fp8") == "no contender exact in fp8");
}

TEST_CASE("benchmark: errors of more than twice the plain formula's are not accurate") {
  const auto accurate = [](double ours, double plain) {
    return bench::accurate({.rows = 1, .ours = ours, .plain = plain});
  };
  CHECK(accurate(1.9e-3, 1e-3));
  CHECK(!accurate(2.1e-3, 1e-3));
  CHECK(accurate(0x1p-24, 0));  // one rounding
  CHECK(!accurate(3e-7, 1e-8));
  CHECK(!accurate(NAN, 1e-3));
}

TEST_CASE("benchmark: the plain formula in 16 bits is as accurate as 16 bits are") {
  const Problem problem = make_data(Data::gaussian, n, d, d, false);
  const Instance exact = make_instance(*backends().front(), problem, "exact", {});
  const Output out = exact.apply(problem.v);
  const bench::RowErrors fp32 = bench::errors_of(exact.bound->plan(), problem, out.z, 16, "fp32"),
                         bf16 = bench::errors_of(exact.bound->plan(), problem, out.z, 16, "bf16");
  CHECK(fp32.ours == bf16.ours);
  CHECK(fp32.plain < 1e-6);
  CHECK(bf16.plain > 0x1p-11);
  CHECK(bf16.plain < 0x1p-6);
}
