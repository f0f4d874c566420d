// Devices whose multiprocessors have little shared memory: blocks of 64 queries are frugal, and
// their results are the same to the bit.
#include <cuda_runtime.h>  // of the emulation
#include <doctest/doctest.h>

#include <cstring>

#include "backend/backends.h"
#include "kernels/hopper.h"
#include "kernels/other_backends.h"
#include "laws/cases.h"
#include "tiles/attend.h"
#include "tiles/query_tile_shape.h"

using namespace fovea;
using namespace fovea::cuda;
using namespace fovea::test;

namespace {

class SharedMemory {
 public:
  explicit SharedMemory(std::size_t kib) : before_(emulation::shared_memory()) {
    emulation::set_shared_memory(kib << 10);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { emulation::set_shared_memory(before_); }

 private:
  const std::size_t before_;
};

struct ExactResults {
  Output all;
  RowsOutput rows;
  Matrix tile;
};

ExactResults results_of(const Problem& problem, std::size_t shared_kib) {
  const Multiprocessors one(1);
  const SharedMemory shared(shared_kib);
  const auto backend = make_cuda_backend({.precision = "fp32"}, nullptr);
  const Instance exact = make_instance(*backend, problem, "exact", {});
  return {exact.apply(problem.v), exact.apply_rows({30, problem.queries()}, 10),
          make_instance(*backend, problem, "exact", {}).tile({3, 90}, {0, problem.keys()})};
}

bool equal_bits(const Matrix& a, const Matrix& b) {
  REQUIRE(a.rows() == b.rows());
  for (Index i = 0; i < a.rows(); ++i)
    if (std::memcmp(a.row(i), b.row(i), static_cast<std::size_t>(a.cols()) * sizeof(float)) != 0)
      return false;
  return true;
}

}  // namespace

TEST_CASE("little shared memory: blocks of 64 queries are frugal, and have the same bits") {
  for (const bool causal : {false, true})
    for (const auto& [width, value_width] :
         {std::pair<Index, Index>{5, 5}, {64, 64}, {64, 150}, {70, 5}, {130, 70}}) {
      const Index d = width, dv = value_width;
      CAPTURE(causal);
      CAPTURE(d);
      CAPTURE(dv);
      const Problem problem = make_data(Data::gaussian, 210, d, dv, causal);
      const ExactResults large = results_of(problem, 227);
      for (const std::size_t kib : {64, 99}) {
        CAPTURE(kib);
        const ExactResults small = results_of(problem, kib);
        CHECK(equal_bits(small.all.z, large.all.z));
        CHECK(small.all.lse == large.all.lse);
        CHECK(equal_bits(small.rows.output.z, large.rows.output.z));
        CHECK(equal_bits(small.rows.most, large.rows.most));
        CHECK(equal_bits(small.rows.mean, large.rows.mean));
        CHECK(equal_bits(small.tile, large.tile));
      }
    }
}

TEST_CASE("little shared memory: two blocks of 64 queries fit where a multiprocessor has 100 KiB") {
  const auto shape_of = [](std::size_t kib, Index d) {
    const Multiprocessors many(24);
    const SharedMemory shared(kib);
    const Device device;
    return choose_shape(
        [](int height) {
          return std::vector{EqualQueryTiles{16384, 16384 / height}};
        },
        {.d = d, .dv = d}, device);
  };
  CHECK(shape_of(99, 64).height == 64);
  CHECK(shape_of(99, 64).wave == 48);
  CHECK(shape_of(99, 128).height == 64);
  CHECK(shape_of(64, 64).height == 64);
  CHECK(shape_of(64, 64).wave == 24);
  CHECK(shape_of(64, 128).height == 64);
  CHECK(attend_shared_bytes(64, 64, 227 << 10) > attend_shared_bytes(64, 64, 99 << 10));
  CHECK(attend_shared_bytes(64, 64, 99 << 10) == attend_shared_bytes(64, 64, 64 << 10));
}
