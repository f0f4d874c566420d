// A MessageChannel carries messages between this process and one that it started, or was started
// by: over a socket, or over standard input and output. Each frame is its length (u64, little
// endian) and as many bytes. It blocks; one thread may send while another one receives.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "io/descriptor.h"
#include "live/wire_message.h"

namespace fovea {

inline constexpr std::uint64_t most_message_bytes = std::uint64_t{4} << 30;

class MessageChannel {
 public:
  using Clock = std::chrono::steady_clock;

  /// Reads from `in` and writes to `out`; without `out`, `in` is a socket for both.
  explicit MessageChannel(Descriptor in, Descriptor out = Descriptor());

  /// Throws UnavailableError if the other process has gone, or has not taken the message by
  /// `deadline`; Cancelled. Nothing can be sent after either.
  void send(const Json& content, const std::vector<OutTensor>& tensors = {},
            const std::stop_token& stop = {},
            Clock::time_point deadline = Clock::time_point::max());

  /// The next message; nothing if the other process has closed its end. Throws InputError for bytes
  /// that are not a message, and UnavailableError for a message that does not fit into the memory
  /// budget: nothing can be received after either. Throws Cancelled; the next call then continues
  /// the same message.
  std::optional<WireMessage> receive(const std::stop_token& stop = {});

 private:
  /// Reads until a part of a frame is complete. Returns false at the end of the stream.
  bool fill(std::span<std::byte> part, const std::stop_token& stop);

  Descriptor in_, out_;
  bool is_socket_;
  std::array<std::byte, sizeof(std::uint64_t)> length_{};
  std::shared_ptr<WireBytes> frame_;  // null until its length has come
  std::size_t have_ = 0;              // bytes of the length, or of the frame
};

}  // namespace fovea
