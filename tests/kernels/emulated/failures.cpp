// Failures of a device are reported and affect nothing else. On the emulated device only: a test
// cannot make a real one fail.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cmath>

#include "backend/backends.h"
#include "device/buffer.h"
#include "harness.h"
#include "tiles/attend.h"
#include "tiles/attend_mma.h"

using namespace fovea;
using namespace fovea::test;

namespace {

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const DeviceLostError& error) {
    return std::string("lost: ") + error.what();
  } catch (const UnavailableError& error) {
    return error.what();
  }
  return "";
}

// Limits the memory of the emulated device during its lifetime.
struct Memory {
  explicit Memory(std::size_t bytes) { emulation::set_device_memory(bytes); }
  ~Memory() { emulation::set_device_memory(std::size_t{8} << 30); }
};

}  // namespace

TEST_CASE("too little device memory is an error with numbers, and what fits still runs") {
  const Backend& backend = *backends().front();
  const Problem problem = make_data(Data::gaussian, 64, 8, 8, false);
  const Instance small = make_instance(backend, problem, "exact", {});
  const Output before = small.apply(problem.v);
  const Problem large = make_data(Data::gaussian, 4096, 64, 64, false);

  std::string message;
  Output after;
  {
    const Memory limited(std::size_t{2} << 20);
    message = message_of([&] { make_instance(backend, large, "exact", {}); });
    after = small.apply(problem.v);
  }
  CHECK_MESSAGE(message.find("MiB of memory left") != std::string::npos, message);
  CHECK_MESSAGE(message.find("MiB needed") != std::string::npos, message);

  for (Index i = 0; i < 64; ++i)
    for (Index c = 0; c < 8; ++c) CHECK(after.z(i, c) == before.z(i, c));
  CHECK(message_of([&] { make_instance(backend, large, "exact", {}); }).empty());
}

TEST_CASE(
    "memory that was freed is free, and an eighth of the device's at most is kept from others") {
  const Memory limited(std::size_t{64} << 20);
  constexpr double mebibyte = 1 << 20;
  const auto free_for_others = [] {
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    return static_cast<double>(free);
  };
  const cuda::Device device;
  const double before = device.free_bytes();
  {
    const cuda::Buffer<float> large(device, std::size_t{5} << 20);
    CHECK(device.free_bytes() == before - 20 * mebibyte);
  }
  CHECK(device.free_bytes() == before);
  CHECK(free_for_others() == before - 20 * mebibyte);
  device.wait();
  CHECK(device.free_bytes() == before);
  CHECK(free_for_others() >= before - 8 * mebibyte);
  CHECK(free_for_others() < before);
  { const cuda::Device other; }  // takes with it what nobody uses
  CHECK(free_for_others() == before);
}

TEST_CASE("a head for which freed memory is enough is not refused") {
  const Problem problem = make_data(Data::gaussian, 50000, 200, 200, false);
  const auto backend = make_cuda_backend({}, nullptr);
  const Memory limited(emulation::memory_in_use() + (std::size_t{420} << 20));
  const cuda::Device device;
  { const cuda::Buffer<float> large(device, std::size_t{100} << 20); }
  CHECK(message_of([&] { make_instance(*backend, problem, "exact", {}); }).empty());
}

TEST_CASE("memory that cannot be filled is freed") {
  const cuda::Device device(true);
  const std::size_t before = emulation::memory_in_use();
  emulation::fail_next_fill(cudaErrorInvalidValue);
  CHECK(message_of([&] { cuda::Buffer<float>(device, 1000); }) ==
        "CUDA: filling memory: invalid argument");
  CHECK(emulation::memory_in_use() == before);
}

TEST_CASE("entries and comparisons for which device memory is too small come in parts of rows") {
  const Index n = 80;
  const Problem problem = make_data(Data::gaussian, n, 8, 3, false);
  const Backend& backend = *backends().front();
  const Instance exact = make_instance(backend, problem, "exact", {});
  Profile profile;
  Run run{profile};
  for (const char* id : {"strided", "tc"}) {
    CAPTURE(id);
    const Instance x = make_instance(backend, problem, id, {});
    const auto maps = [&] {
      return *x.bound->difference(*exact.bound, {0, n}, {0, n}, {Pool::Kind::max, 8, 8},
                                  Difference::absolute, run);
    };
    const auto rows = [&] { return *x.bound->compare_rows(*exact.bound, {0, n}, run); };
    const Matrix all = x.all(), map = maps();
    const std::vector<RowDifference> compared = rows();
    // Half of the entries of one of the two operators.
    const Memory limited(emulation::memory_in_use() + std::size_t{n} * n * 4 / 2);
    const Matrix all_in_parts = x.all(), map_in_parts = maps();
    const std::vector<RowDifference> compared_in_parts = rows();
    bool same = true;
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      same &= compared[at].error == compared_in_parts[at].error;
      for (Index j = 0; j < n; ++j) same &= all(i, j) == all_in_parts(i, j);
    }
    for (Index r = 0; r < 8; ++r)
      for (Index c = 0; c < 8; ++c) same &= map(r, c) == map_in_parts(r, c);
    CHECK(same);
  }
}

TEST_CASE("a lost device is reported, and the operators on it can be destroyed") {
  const Problem problem = make_data(Data::gaussian, 64, 8, 8, false);
  REQUIRE(!backends().empty());  // they hold the device, so that it stays lost
  std::string why_not;
  auto backend = make_cuda_backend({}, &why_not);
  REQUIRE(backend);
  {
    const Instance x = make_instance(*backend, problem, "exact", {});
    emulation::set_failure(cudaErrorIllegalAddress);
    CHECK(message_of([&] { x.apply(problem.v); }).starts_with("lost: CUDA: "));
    CHECK(message_of([&] { x.tile({0, 8}, {0, 8}); }).starts_with("lost: CUDA: "));
  }
  backend.reset();
  CHECK(!make_cuda_backend({}, &why_not));
  CHECK_MESSAGE(why_not.find("illegal memory access") != std::string::npos, why_not);
  emulation::set_failure(cudaSuccess);
}

TEST_CASE("a launch that a device refuses is an error of its own, and the device is not lost") {
  const Problem problem = make_data(Data::gaussian, 64, 8, 8, false);
  const Instance x = make_instance(*backends().front(), problem, "exact", {});
  const Output before = x.apply(problem.v);
  for (const cudaError_t error :
       {cudaErrorNotSupported, cudaErrorLaunchOutOfResources, cudaErrorInvalidDeviceFunction,
        cudaErrorInvalidConfiguration, cudaErrorInvalidValue}) {
    emulation::fail_next_launch(error);
    const std::string message = message_of([&] { x.apply(problem.v); });
    CHECK_MESSAGE(message == std::string("CUDA: launching a kernel: ") + cudaGetErrorString(error),
                  message);
    const Output after = x.apply(problem.v);
    for (Index i = 0; i < 64; ++i) CHECK(after.z(i, 0) == before.z(i, 0));
  }
}

TEST_CASE("a launcher without a kernel for its arguments says so") {
  using namespace fovea::cuda;
  const auto of = [](int dv, int height, int pixel) {
    AttendArgs args{.states = {.dv = dv}};
    args.segments.pixel = pixel;
    return message_of([&] { attend(args, {}, height, 227 << 10, nullptr); });
  };
  CHECK(of(64, 128, 0).empty());  // nothing to do: no query tiles
  CHECK(of(256, 64, 0).empty());
  CHECK(of(128, 16, 1).empty());
  CHECK(of(68, 128, 0) ==
        "CUDA: there is no kernel for attention with 68 columns of values at once, query tiles of "
        "128 queries");
  CHECK(of(260, 64, 0).starts_with("CUDA: there is no kernel"));
  CHECK(of(132, 16, 1).ends_with("query tiles of 16 queries and maps"));
  CHECK(of(64, 32, 0).ends_with("query tiles of 32 queries"));
  const auto of_mma = [](int dv, int height) {
    return message_of(
        [&] { attend_mma<Precision::bf16>({.states = {.dv = dv}}, {}, height, nullptr); });
  };
  CHECK(of_mma(256, 128).empty());
  CHECK(of_mma(260, 128).starts_with("CUDA: there is no kernel"));
  CHECK(of_mma(64, 256).starts_with("CUDA: there is no kernel"));
}

TEST_CASE("a head that is too wide for the device is refused before anything is uploaded") {
  for (const char* precision : {"fp32", "bf16"}) {
    CAPTURE(precision);
    const auto backend = make_cuda_backend({.precision = precision}, nullptr);
    const Problem widest = make_data(Data::gaussian, 4, 2752, 3, false),
                  wider = make_data(Data::gaussian, 4, 2753, 3, false);
    const Output out = make_instance(*backend, widest, "exact", {}).apply(widest.v);
    CHECK(std::isfinite(out.z(3, 2)));
    const std::size_t before = emulation::memory_in_use();
    emulation::reset_peak();
    const std::string message = message_of([&] { make_instance(*backend, wider, "exact", {}); });
    CHECK_MESSAGE(message.starts_with("CUDA: heads of d = 2753; expected at most 2752 on emulated"),
                  message);
    CHECK(emulation::peak_memory() == before);
  }
}

TEST_CASE("device memory: a head needs O(n), and frees all of it") {
  const Backend& backend = *backends().front();
  const std::size_t before = emulation::memory_in_use();
  for (const char* id : {"exact", "tc"}) {
    CAPTURE(id);
    std::size_t peak[2] = {};
    for (const int round : {0, 1}) {
      const Index n = round == 0 ? 512 : 1024;
      const Problem problem = make_data(Data::gaussian, n, 8, 8, false);
      const Instance x = make_instance(backend, problem, id, {});
      emulation::reset_peak();
      x.apply(problem.v);
      x.tile({0, n}, {0, n}, {Pool::Kind::max, 16, 16});
      peak[round] = emulation::peak_memory() - before;
    }
    CHECK(emulation::memory_in_use() == before);
    CHECK(peak[1] < 2.2 * static_cast<double>(peak[0]));  // twice, and a little that does not grow
  }
}

TEST_CASE("maps: with little device memory they come in smaller launches, bit for bit the same") {
  const Index n = 390, pixel = 30;
  const Problem problem = make_data(Data::gaussian, n, 8, 8, true);
  const Instance x = make_instance(*backends().front(), problem, "exact", {});
  const std::size_t bound = emulation::memory_in_use();
  emulation::reset_peak();
  const RowsOutput roomy = x.apply_rows({0, n}, pixel);
  const std::size_t peak = emulation::peak_memory();
  RowsOutput tight;
  {
    // Only the segments of one of four query tiles of 128 queries with 13 columns fit, and the
    // sums that are kept.
    const Memory limited(peak - std::size_t{3} * 128 * 13 * 8 + std::size_t{n} * 4);
    tight = x.apply_rows({0, n}, pixel);
  }
  {
    const Memory limited(bound + (std::size_t{32} << 10));
    CHECK(message_of([&] { x.apply_rows({0, n}, pixel); }).find("MiB needed") != std::string::npos);
  }
  for (Index r = 0; r < tight.most.rows(); ++r)
    for (Index c = 0; c < tight.most.cols(); ++c) {
      CHECK(tight.most(r, c) == roomy.most(r, c));
      CHECK(tight.mean(r, c) == roomy.mean(r, c));
    }
}

TEST_CASE("work can be cancelled between launches") {
  const Backend& backend = *backends().front();
  const Problem problem = make_data(Data::gaussian, 200, 8, 8, false);
  const Instance x = make_instance(backend, problem, "exact", {});
  std::stop_source stop;
  stop.request_stop();
  Profile profile;
  Run run{profile, stop.get_token()};
  CHECK_THROWS_AS(x.bound->apply(problem.v, run), Cancelled);
  CHECK_THROWS_AS(x.bound->tile({0, 200}, {0, 200}, {}, run), Cancelled);
}
