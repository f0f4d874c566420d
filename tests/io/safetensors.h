// Making .safetensors byte by byte, right or wrong.
#pragma once

#include <cstdint>
#include <string>

#include "io/bytes.h"

namespace fovea::test {

inline std::string safetensors_bytes(const std::string& header, const std::string& data) {
  return bytes_of(static_cast<std::uint64_t>(header.size())) + header + data;
}

inline std::string entry(const std::string& name, const std::string& dtype,
                         const std::string& shape, const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

}  // namespace fovea::test
