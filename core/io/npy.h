// The header of a .npy array: a magic, a version and a Python dict of descr, fortran_order and
// shape.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io/tensor_file.h"

namespace fovea {

/// The first `npy_preamble` bytes of a header contain its length.
constexpr std::size_t npy_preamble = 12;

/// Bytes before the data, at least npy_preamble. `begin` are the first npy_preamble bytes, or all
/// when there are fewer. Throws InputError when this is not a .npy array, or the length of its
/// header is not plausible.
std::size_t npy_header_bytes(const std::string& where, std::span<const std::byte> begin);

struct NpyHeader {
  NamedTensor tensor;               // all but name, bytes and begin
  std::optional<Index> data_bytes;  // what the shape needs; nothing for types of unknown size
};

/// Parses a whole header. Throws InputError with what was found instead.
NpyHeader parse_npy_header(const std::string& where, std::span<const std::byte> header,
                           bool as_bfloat16);

/// Throws InputError unless exactly the bytes the shape needs follow the header.
void check_npy_size(const std::string& where, const NpyHeader& header, std::size_t found);

}  // namespace fovea
