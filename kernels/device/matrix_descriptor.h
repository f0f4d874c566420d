// The matrix descriptor of wgmma: where a matrix of 16-bit values lies in shared memory, in rows of
// 128 bytes, eight rows after the other, whose pieces of 16 bytes are permuted as copy_box_async
// does (PTX ISA, "Matrix Descriptor Format").
#pragma once

#include <cstdint>

namespace fovea::cuda {

namespace descriptor {

/// leading, stride: byte offsets.
constexpr std::uint64_t of(std::uint32_t address, int leading, int stride) {
  constexpr std::uint64_t permuted_in_128 = std::uint64_t{1} << 62;
  return permuted_in_128 | (address & 0x3ffff) >> 4 |
         static_cast<std::uint64_t>(leading >> 4) << 16 |
         static_cast<std::uint64_t>(stride >> 4) << 32;
}

}  // namespace descriptor

/// Sixteen columns of a matrix, of as many rows as the product takes: `address` is that of the
/// first value of the first row, which begins at a multiple of 1024.
constexpr std::uint64_t columns_of(std::uint32_t address) {
  return descriptor::of(address, 16, 1024);  // the leading offset is not used
}

/// Sixteen rows, from a multiple of 8 on, of a matrix that the product takes transposed. Columns
/// from 64 on lie `apart` bytes further for each 64.
constexpr std::uint64_t rows_of(std::uint32_t address, int apart) {
  return descriptor::of(address, apart, 1024);
}

/// The descriptor of the same matrix, moved by `bytes`, a multiple of 16, in shared memory. It
/// takes one addition; making another descriptor takes four dependent instructions before each
/// product.
constexpr std::uint64_t further(std::uint64_t descriptor, int bytes) {
  return descriptor + static_cast<std::uint64_t>(bytes >> 4);
}

}  // namespace fovea::cuda
