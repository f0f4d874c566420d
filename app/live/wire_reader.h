// A WireReader parses what a program sends: a greeting, then frames. It holds no socket, so tests
// can give it any bytes in any pieces.
//
// The greeting is the 8 bytes "fovealnk", a version (u32), the length of a token (u32, at most 256)
// and the token. A frame is its length (u64, at least 1) and as many bytes: a safetensors blob, as
// in a file. Numbers are little endian. The answers to both are frames of JSON.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

inline constexpr std::string_view wire_magic = "fovealnk";
inline constexpr std::uint32_t wire_version = 1;
inline constexpr std::uint32_t longest_token = 256;  // bytes

using WireBytes = std::vector<std::byte>;

class WireReader {
 public:
  /// A frame has at most `most_bytes`.
  explicit WireReader(std::uint64_t most_bytes);

  /// Where the next bytes belong; never empty. Valid until the next call of another function.
  std::span<std::byte> room();
  /// To be called after the first `bytes` of room() were filled. Throws InputError, with a sentence
  /// for the other program, for an invalid greeting, another version, and a length out of range;
  /// nothing more may be read then.
  void filled(std::size_t bytes);

  /// The token of the greeting, once.
  std::optional<std::string> take_token();
  /// A complete frame, once. To be called after each filled().
  std::shared_ptr<const WireBytes> take_frame();

  bool greeted() const { return part_ > Part::token; }
  /// The bytes of the frame that has begun; 0 between two frames. room() allocates for them.
  std::uint64_t frame_bytes() const { return part_ == Part::payload ? need_ : 0; }
  /// Whether a greeting or a frame has begun and is not complete.
  bool is_in_the_middle() const { return part_ != Part::length || have_ > 0; }

 private:
  enum class Part { greeting, token, length, payload };
  void begin(Part part, std::uint64_t bytes);
  void end_part();

  std::uint64_t most_bytes_;
  Part part_ = Part::greeting;
  std::uint64_t need_ = 0, have_ = 0;  // bytes of the part
  std::array<std::byte, 16> numbers_{};
  std::shared_ptr<WireBytes> bytes_;  // of a token or a payload; grows as bytes arrive
  std::optional<std::string> token_;
  std::shared_ptr<const WireBytes> frame_;
};

/// The greeting of a program.
std::string wire_greeting(const std::string& token, std::uint32_t version = wire_version);
/// The length that goes before a frame's bytes.
std::string wire_length(std::uint64_t bytes);

}  // namespace fovea
