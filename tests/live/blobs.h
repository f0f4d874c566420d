// What programs send, made byte by byte.
#pragma once

#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "io/safetensors.h"
#include "live/live_step.h"
#include "live/wire_reader.h"

namespace fovea::test {

/// q, k and v of a head of two tokens, of width 2; all their numbers are `value`.
inline std::string blob(const std::string& stream, const std::string& step, float value = 1) {
  std::string metadata = R"("__metadata__":{"stream":")" + stream + "\"";
  if (!step.empty()) metadata += R"(,"step":")" + step + "\"";
  const std::string header = "{" + metadata + "}," + entry("q", "F32", "[2,2]", "[0,16]") + "," +
                             entry("k", "F32", "[2,2]", "[16,32]") + "," +
                             entry("v", "F32", "[2,2]", "[32,48]") + "}";
  std::string data(48, '\0');
  for (std::size_t i = 0; i < data.size(); i += sizeof value)
    std::memcpy(data.data() + i, &value, sizeof value);
  return safetensors_bytes(header, data);
}

/// Random heads [heads, n, d] of a causal model.
inline std::string heads_blob(const std::string& stream, Index number, Index heads, Index n,
                              Index d) {
  const std::string shape =
      "[" + std::to_string(heads) + "," + std::to_string(n) + "," + std::to_string(d) + "]";
  const auto size = static_cast<std::size_t>(heads * n * d) * sizeof(float);
  const auto place = [size](std::size_t i) {
    return "[" + std::to_string(i * size) + "," + std::to_string((i + 1) * size) + "]";
  };
  const std::string header = R"({"__metadata__":{"causal":"true","stream":")" + stream +
                             R"(","step":")" + std::to_string(number) + "\"}," +
                             entry("layer0.q", "F32", shape, place(0)) + "," +
                             entry("layer0.k", "F32", shape, place(1)) + "," +
                             entry("layer0.v", "F32", shape, place(2)) + "}";
  std::mt19937 random(static_cast<unsigned>(number) + 1);
  std::normal_distribution<float> normal;
  std::string data(3 * size, '\0');
  for (std::size_t i = 0; i < data.size(); i += sizeof(float)) {
    const float value = normal(random);
    std::memcpy(data.data() + i, &value, sizeof value);
  }
  return safetensors_bytes(header, data);
}

inline std::shared_ptr<const WireBytes> bytes(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return std::make_shared<const WireBytes>(begin, begin + text.size());
}

inline LiveStep step(const std::string& stream, Index number) {
  return read_live_step(bytes(blob(stream, number < 0 ? "" : std::to_string(number))));
}

inline std::string frame(const std::string& payload) {
  return wire_length(payload.size()) + payload;
}

}  // namespace fovea::test
