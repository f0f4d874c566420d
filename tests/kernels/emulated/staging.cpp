// Large copies between host and device go through page-locked buffers.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <limits>

#include "device/device_matrix.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Columns of a wider matrix, to the device and back into columns of another, whose others stay.
/// Rows that are `staged` are copied with the padding behind them.
void require_same_after_both_ways(const cuda::Device& device, Index rows, Index cols, bool staged) {
  CAPTURE(rows);
  CAPTURE(cols);
  constexpr Index margin = 3;
  const Matrix from = gaussian(rows, cols + margin, 1);
  cuda::DeviceMatrix there(device, rows + 1, cols);
  const std::size_t before = emulation::copies_so_far().bytes;
  there.upload(device, {from.data() + 1, rows, cols, from.stride()}, 1);
  CHECK(emulation::copies_so_far().bytes - before ==
        static_cast<std::size_t>(rows * (staged ? there.stride() : cols)) * sizeof(float));
  Matrix padded(rows, there.stride()), back(rows, cols + margin, 7.0f);
  cuda::check(cudaMemcpyAsync(padded.data(), there.row(1),
                              static_cast<std::size_t>(rows * there.stride()) * sizeof(float),
                              cudaMemcpyDeviceToHost, device.stream()),
              "downloading");
  device.wait();
  // Downloads begin at the first row, which `there` never got.
  cuda::DeviceMatrix again(device, rows, cols);
  again.upload(device, {from.data() + 1, rows, cols, from.stride()});
  again.download(device, back.data() + 2, back.stride(), rows);
  device.wait();
  bool same = true, zeros = true, untouched = true;
  for (Index i = 0; i < rows; ++i) {
    for (Index c = 0; c < cols; ++c)
      same &= padded(i, c) == from(i, c + 1) && back(i, c + 2) == from(i, c + 1);
    for (Index c = cols; c < there.stride(); ++c) zeros &= padded(i, c) == 0;
    untouched &= back(i, 0) == 7 && back(i, 1) == 7 && back(i, cols + 2) == 7;
  }
  CHECK(same);
  CHECK(zeros);
  CHECK(untouched);
}

}  // namespace

TEST_CASE("rows are the same after both ways, through buffers and without them") {
  const cuda::Device device;
  require_same_after_both_ways(device, 100, 5, false);        // too few for buffers
  require_same_after_both_ways(device, 17000, 63, true);      // a little more than one has
  require_same_after_both_ways(device, 70000, 61, true);      // several turns of each
  require_same_after_both_ways(device, 3, 899'999, true);     // a row a buffer
  require_same_after_both_ways(device, 2, 1'099'999, false);  // wider than a buffer
}

TEST_CASE("rows are copied without buffers if no memory can be locked") {
  for (const std::size_t lockable : {std::size_t{0}, std::size_t{6} << 20}) {
    emulation::set_lockable_memory(lockable);
    const cuda::Device device;
    require_same_after_both_ways(device, 70000, 61, false);
    emulation::set_lockable_memory(std::numeric_limits<std::size_t>::max());
  }
}

TEST_CASE("a device that is lost while rows are copied is reported, and nothing hangs") {
  const cuda::Device device;
  const Matrix from = gaussian(70000, 61, 1);
  cuda::DeviceMatrix there(device, from.rows(), from.cols());
  there.upload(device, from);
  device.wait();
  emulation::set_failure(cudaErrorIllegalAddress);
  CHECK_THROWS_AS(there.upload(device, from), DeviceLostError);
  Matrix back(from.rows(), from.cols());
  CHECK_THROWS_AS(there.download(device, back.data(), back.stride(), back.rows()), DeviceLostError);
  emulation::set_failure(cudaSuccess);
}
