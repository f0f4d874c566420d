// Making .safetensors byte by byte, right or wrong.
#pragma once

#include <cstdint>
#include <string>

#include "io/bytes.h"
#include "io/json.h"
#include "io/plain_header.h"

namespace fovea::test {

inline std::string safetensors_bytes(const std::string& header, const std::string& data) {
  return bytes_of(static_cast<std::uint64_t>(header.size())) + header + data;
}

inline std::string entry(const std::string& name, const std::string& dtype,
                         const std::string& shape, const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

/// Whether a header that is read without making JSON is JSON, with the same entries.
inline bool agrees_with_json(std::string_view header) {
  Json entries = Json::object();
  const auto add_tensor = [&](const HeaderEntry& entry) {
    entries[std::string(entry.name)] = {
        {"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", entry.offsets}};
  };
  const auto add_metadata = [&](std::string_view json) {
    entries["__metadata__"] = Json::parse(json);
  };
  return !read_plain_header(header, add_tensor, add_metadata) ||
         entries == Json::parse(header, nullptr, false);
}

}  // namespace fovea::test
