// The bytes of a .gguf file, made one entry after the other. It has no tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes.h"

namespace fovea::test {

class GgufBytes {
 public:
  explicit GgufBytes(std::uint32_t version = 3) : version_(version) {}

  GgufBytes& text(std::string_view key, std::string_view value) {
    return entry(key, 8, string(value));
  }
  GgufBytes& count(std::string_view key, std::uint32_t value) {
    return entry(key, 4, bytes_of(value));
  }
  GgufBytes& counts(std::string_view key, const std::vector<std::uint32_t>& values) {
    std::string all = bytes_of(std::uint32_t{4}) + bytes_of(std::uint64_t{values.size()});
    for (const std::uint32_t value : values) all += bytes_of(value);
    return entry(key, 9, all);
  }
  GgufBytes& texts(std::string_view key, const std::vector<std::string>& values) {
    std::string all = bytes_of(std::uint32_t{8}) + bytes_of(std::uint64_t{values.size()});
    for (const std::string& value : values) all += string(value);
    return entry(key, 9, all);
  }
  GgufBytes& entry(std::string_view key, std::uint32_t type, const std::string& value) {
    ++entries_;
    content_ += string(key) + bytes_of(type) + value;
    return *this;
  }
  std::string bytes() const {
    return "GGUF" + bytes_of(version_) + bytes_of(std::uint64_t{0}) + bytes_of(entries_) + content_;
  }

 private:
  static std::string string(std::string_view text) {
    return bytes_of(std::uint64_t{text.size()}) + std::string(text);
  }

  std::uint32_t version_;
  std::uint64_t entries_ = 0;
  std::string content_;
};

/// As llama.cpp writes it for a Llama of 30 layers.
inline GgufBytes small_gguf(std::string_view name = "Small LM") {
  GgufBytes file;
  file.text("general.architecture", "llama").text("general.name", name);
  file.count("llama.block_count", 30).count("llama.attention.head_count", 9);
  return file.texts("tokenizer.ggml.tokens", {"a", "b"});
}

}  // namespace fovea::test
