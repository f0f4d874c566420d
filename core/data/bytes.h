// Bytes are read a part at a time: the content of a buffer or of an open file, or content that is
// computed when it is first read.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>

#include "data/matrix.h"

namespace fovea {

class Bytes {
 public:
  virtual ~Bytes() = default;

  /// Copies the bytes [begin, begin + out.size()), which must lie within the content. Throws
  /// InputError if a file cannot be read or has changed since it was opened.
  virtual void read(Index begin, std::span<std::byte> out) const = 0;
  /// Computes the content if it is not there yet, which may take long. Throws what that throws, and
  /// Cancelled.
  virtual void prepare(const std::stop_token&) const {}
};

/// Copies any number of bytes, a piece at a time; may also throw Cancelled between two pieces.
void read_in_pieces(const Bytes& bytes, Index begin, std::span<std::byte> out,
                    const std::stop_token& stop);

/// The bytes of a buffer that `owner` keeps alive.
std::shared_ptr<const Bytes> bytes_in_memory(std::span<const std::byte> content,
                                             std::shared_ptr<const void> owner);

}  // namespace fovea
