#include "live/wire_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "data/error.h"

namespace fovea {
namespace {

constexpr std::uint64_t greeting_bytes = 16, length_bytes = 8;
// A length is only a claim: memory grows as bytes arrive, to twice as many bytes as are there.
constexpr std::uint64_t first_room = 1 << 20;

std::uint64_t number_at(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    number |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return number;
}

std::string text_of(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i) & 0xff);
  return text;
}

}  // namespace

WireReader::WireReader(std::uint64_t most_bytes) : most_bytes_(most_bytes) {
  begin(Part::greeting, greeting_bytes);
}

void WireReader::begin(Part part, std::uint64_t bytes) {
  part_ = part;
  need_ = bytes;
  have_ = 0;
  const bool variable = part == Part::token || part == Part::payload;
  bytes_ = variable ? std::make_shared<WireBytes>() : nullptr;
}

std::span<std::byte> WireReader::room() {
  if (!bytes_) return std::span(numbers_).subspan(have_, need_ - have_);
  if (bytes_->size() == have_) bytes_->resize(std::min(need_, std::max(first_room, 2 * have_)));
  return std::span(*bytes_).subspan(have_);
}

void WireReader::filled(std::size_t bytes) {
  have_ += bytes;
  if (have_ == need_) end_part();
}

void WireReader::end_part() {
  const std::span<const std::byte> numbers(numbers_);
  switch (part_) {
    case Part::greeting: {
      if (std::memcmp(numbers.data(), wire_magic.data(), wire_magic.size()) != 0)
        throw InputError("", "This is not the greeting of a program that sends to Fovea.");
      const std::uint64_t version = number_at(numbers.subspan(8, 4));
      const std::uint64_t token = number_at(numbers.subspan(12, 4));
      if (version != wire_version)
        throw InputError("", "The program speaks version " + std::to_string(version) +
                                 " of the link, and this window speaks version " +
                                 std::to_string(wire_version) +
                                 ": install the Python package of this Fovea.");
      if (token > longest_token)
        throw InputError("", "The token would have " + std::to_string(token) + " bytes; at most " +
                                 std::to_string(longest_token) + " are expected.");
      begin(Part::token, token);
      if (token == 0) end_part();
      return;
    }
    case Part::token:
      token_ = std::string(reinterpret_cast<const char*>(bytes_->data()), bytes_->size());
      return begin(Part::length, length_bytes);
    case Part::length: {
      const std::uint64_t bytes = number_at(numbers.first(length_bytes));
      if (bytes == 0 || bytes > most_bytes_)
        throw InputError("", "A step would have " + std::to_string(bytes) + " bytes; from 1 to " +
                                 std::to_string(most_bytes_) +
                                 " are expected: send fewer heads or tokens.");
      return begin(Part::payload, bytes);
    }
    case Part::payload:
      frame_ = std::move(bytes_);
      return begin(Part::length, length_bytes);
  }
}

std::optional<std::string> WireReader::take_token() {
  return std::exchange(token_, {});
}

std::shared_ptr<const WireBytes> WireReader::take_frame() {
  return std::exchange(frame_, nullptr);
}

std::string wire_greeting(const std::string& token, std::uint32_t version) {
  return std::string(wire_magic) + text_of(version, 4) + text_of(token.size(), 4) + token;
}

std::string wire_length(std::uint64_t bytes) {
  return text_of(bytes, 8);
}

}  // namespace fovea
