#include "device/split_matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace fovea::cuda {
namespace {

constexpr int high_exponent = 15;      // of the largest number: fp16 has those below 2^16
constexpr float least_row = 0x1p-26f;  // of the largest number
constexpr int most_exponent = 127;     // 2^127 is a float

}  // namespace

std::optional<SplitMatrix> split(const Device& device, const DeviceMatrix& from,
                                 Timeline& timeline) {
  constexpr std::array<unsigned, 2> none{0, 0xffffffffu};
  std::array<unsigned, 2> sizes;
  const Buffer<unsigned> found(device, std::span<const unsigned>(none));
  {
    const auto stage = timeline.stage("coarsen and round");
    find_row_sizes({from.data(), from.rows(), from.stride(), found.data()}, device.stream());
  }
  found.download(sizes.data(), sizes.size());
  device.wait();
  const auto largest = std::bit_cast<float>(sizes[0]);
  if (sizes[0] > 0 && std::bit_cast<float>(sizes[1]) < least_row * largest) return std::nullopt;
  int above = 0;  // largest < 2^above
  std::frexp(largest, &above);
  SplitMatrix out{Matrix16(device, from.rows(), from.cols(), 2),
                  std::min(high_exponent - above, most_exponent)};
  const auto stage = timeline.stage("coarsen and round");
  split_rows({.from = from.data(),
              .rows = from.rows(),
              .from_stride = from.stride(),
              .factor = std::ldexp(1.0f, out.exponent),
              .to = out.parts.data(),
              .to_stride = out.parts.stride(),
              .low = out.parts.rows().low},
             device.stream());
  return out;
}

}  // namespace fovea::cuda
