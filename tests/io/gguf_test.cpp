// What the header of a .gguf file says, and how headers are refused that say what cannot be.
#include <doctest/doctest.h>

#include <span>

#include "gguf_bytes.h"
#include "io/gguf_header.h"
#include "messages.h"

namespace fovea::test {
namespace {

GgufHeader header_of(const std::string& bytes) {
  const auto content = bytes_in_memory(std::as_bytes(std::span(bytes)), nullptr);
  return read_gguf_header("m.gguf", *content, std::ssize(bytes));
}

}  // namespace

TEST_CASE("the header of a .gguf file says architecture, name, layers and heads") {
  const TemporaryDirectory scratch;
  const GgufHeader header = read_gguf_header(scratch.write("m.gguf", small_gguf().bytes()));
  CHECK(header.architecture == "llama");
  CHECK(header.name == "Small LM");
  CHECK(header.layers == 30);
  CHECK(header.heads == 9);
}

TEST_CASE("entries of a .gguf file come in any order and of any type, and may be missing") {
  GgufBytes file(2);
  file.texts("tokenizer.ggml.tokens", std::vector<std::string>(30000, "a token"));
  file.entry("a", 0, "x").entry("b", 12, "12345678").entry("c", 7, std::string(1, '\1'));
  file.counts("qwen.attention.head_count", {14, 7, 14});
  file.entry("qwen.block_count", 10, bytes_of(std::uint64_t{24}));
  file.text("general.architecture", "qwen");
  const GgufHeader header = header_of(file.bytes());
  CHECK(header.architecture == "qwen");
  CHECK(header.name.empty());
  CHECK(header.layers == 24);
  CHECK(header.heads == 14);
  CHECK(header_of(GgufBytes().bytes()).architecture.empty());
}

TEST_CASE("what a .gguf file states of its size is checked against its bytes") {
  CHECK_SAYS(header_of("PK\3\4 and so on, and on"), "m.gguf", "does not begin with GGUF");
  CHECK_SAYS(header_of("GG"), "ends too early");
  CHECK_SAYS(header_of(GgufBytes(1).bytes()), "version 1", "expected version 2 or 3");
  CHECK_SAYS(header_of(GgufBytes(0x03000000).bytes()), "big-endian");
  const std::string good = small_gguf().bytes();
  // The name is the last that is needed before the counts: all before it must be there.
  for (std::size_t length = 0; length < good.size() - 70; length += 3)
    CHECK_SAYS(header_of(good.substr(0, length)), "ends too early");
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  CHECK_SAYS(header_of(GgufBytes().entry("k", 8, bytes_of(huge)).bytes()),
             "18446744073709551615 bytes are announced");
  CHECK_SAYS(header_of(GgufBytes().entry("general.name", 8, bytes_of(huge)).bytes()),
             "ends too early");
  CHECK_SAYS(header_of(GgufBytes().entry(std::string(70000, 'k'), 0, "x").bytes()),
             "a key of 70000 bytes");
  for (const std::uint32_t of : {0u, 4u, 8u, 10u})
    CHECK_SAYS(header_of(GgufBytes().entry("k", 9, bytes_of(of) + bytes_of(huge / 8 + 1)).bytes()),
               "ends too early");
  CHECK_SAYS(header_of(GgufBytes().entry("k", 9, bytes_of(9u) + bytes_of(huge)).bytes()),
             "an array of arrays");
  CHECK_SAYS(header_of(GgufBytes().entry("k", 13, "").bytes()), "unknown type 13");
  CHECK_SAYS(header_of(GgufBytes().entry("k", 9, bytes_of(77u) + bytes_of(huge)).bytes()),
             "unknown type 77");
  CHECK(
      header_of(
          GgufBytes().text("general.architecture", "a").count("a.block_count", 0xFFFFFFFF).bytes())
          .layers == 0);
}

}  // namespace fovea::test
