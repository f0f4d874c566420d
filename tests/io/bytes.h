// The bytes of a value, little endian as on this machine, and those of a tensor.
#pragma once

#include <cstring>
#include <span>
#include <string>

#include "io/tensor_file.h"
#include "temporary_directory.h"

namespace fovea::test {

template <class T>
std::string bytes_of(const T& value) {
  std::string out(sizeof(T), '\0');
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}

/// The first `bytes` of a tensor in memory or in a file.
inline std::string data_of(const NamedTensor& tensor, std::size_t bytes) {
  std::string out(bytes, '\0');
  tensor.bytes->read(tensor.begin, std::as_writable_bytes(std::span(out)));
  return out;
}

}  // namespace fovea::test
