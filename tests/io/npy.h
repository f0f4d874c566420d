// Making .npy arrays and .npz archives, right or wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/bytes.h"

namespace fovea::test {

/// Version 1, with this dict as it is.
inline std::string npy_bytes(const std::string& dict, const std::string& data) {
  return std::string("\x93NUMPY\x01\x00", 8) + bytes_of(static_cast<std::uint16_t>(dict.size())) +
         dict + data;
}

inline std::string npy_dict(const std::string& descr, const std::string& shape,
                            const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

inline std::string floats(std::size_t count, float first = 0) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += bytes_of(first + static_cast<float>(i));
  return out;
}

/// A member as an archive declares it: sizes, method and checksum may be lies.
struct ZipMember {
  std::string name, bytes;
  std::uint64_t size = bytes.size();    // uncompressed, as declared
  std::uint64_t hole = 0;               // zeros that follow `bytes`, not written: a sparse file
  std::uint16_t method = 0, flags = 0;  // 0 stored
  std::uint32_t checksum_error = 0;
};

/// Writes a zip of stored members with ZIP64 sizes and offsets throughout, as NumPy does.
void write_zip(const std::string& path, const std::vector<ZipMember>& members);

/// Writes a deflated zip.
void write_deflated(const std::string& path, const std::vector<ZipMember>& members);

}  // namespace fovea::test
