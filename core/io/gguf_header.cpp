// GGUF: "GGUF", u32 version, u64 tensors, u64 entries; then the entries: a key, a type, a value.
// All numbers are little endian. A string is a u64 length and its bytes; an array a type, a u64
// length and its values.
#include "io/gguf_header.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "data/error.h"
#include "data/stop.h"
#include "io/file_bytes.h"

namespace fovea {
namespace {

constexpr Index longest_gguf_header = Index{256} << 20;  // vocabularies take some 20 MiB
constexpr std::uint64_t longest_gguf_key = 65535;        // the limit of the format
constexpr std::uint64_t longest_text = 1024;             // bytes of a text that are kept
constexpr std::uint64_t largest_count = 1'000'000;       // of layers and heads

enum class GgufType : std::uint32_t { u32 = 4, i32 = 5, text = 8, array = 9, u64 = 10, i64 = 11 };
/// Bytes of a value of each type; 0 if it has no fixed size.
constexpr std::array<Index, 13> gguf_sizes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

class GgufReader {
 public:
  GgufReader(const std::string& where, const Bytes& bytes, Index size, const std::stop_token& stop)
      : where_(where), bytes_(bytes), size_(std::min(size, longest_gguf_header)), stop_(stop) {}

  template <class T>
  T number() {
    T value{};
    read(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  /// At most `longest` bytes of a string.
  std::string text(std::uint64_t longest) {
    const auto length = number<std::uint64_t>();
    std::string out(std::min({length, longest, left()}), '\0');
    read(std::as_writable_bytes(std::span(out)));
    skip(length - out.size());
    return out;
  }

  std::string key() {
    const auto length = number<std::uint64_t>();
    if (length > longest_gguf_key) refuse("a key of " + std::to_string(length) + " bytes");
    std::string out(length, '\0');
    read(std::as_writable_bytes(std::span(out)));
    return out;
  }

  void skip_value(GgufType type) {
    if (type == GgufType::text) return skip(number<std::uint64_t>());
    if (type != GgufType::array) return skip(size_of(type));
    const auto of = number<GgufType>();
    const auto length = number<std::uint64_t>();
    if (of == GgufType::array) refuse("an array of arrays");
    if (of != GgufType::text) return skip_many(length, size_of(of));
    for (std::uint64_t i = 0; i < length; ++i) skip(number<std::uint64_t>());
  }

  /// A whole number, or the first of an array of whole numbers; 0 if it is not a valid count.
  Index count(GgufType type) {
    if (type == GgufType::array) {
      const auto of = number<GgufType>();
      const auto length = number<std::uint64_t>();
      if ((of != GgufType::u32 && of != GgufType::i32) || length == 0)
        refuse("a list that is no count");
      const Index first = count(of);
      skip_many(length - 1, size_of(of));
      return first;
    }
    std::uint64_t value = 0;
    if (type == GgufType::u32 || type == GgufType::i32)
      value = number<std::uint32_t>();
    else if (type == GgufType::u64 || type == GgufType::i64)
      value = number<std::uint64_t>();
    else
      skip_value(type);
    return value <= largest_count ? static_cast<Index>(value) : 0;
  }

  [[noreturn]] void refuse(const std::string& found) const {
    throw InputError(where_, "has " + found + " before byte " + std::to_string(at_) +
                                 "; expected the header of a .gguf file");
  }

 private:
  std::uint64_t left() const { return size_ - at_; }

  Index size_of(GgufType type) const {
    const auto number = static_cast<std::uint32_t>(type);
    if (number >= gguf_sizes.size() || gguf_sizes[number] == 0)
      refuse("a value of the unknown type " + std::to_string(number));
    return gguf_sizes[number];
  }

  void require(std::uint64_t bytes) const {
    if (bytes <= left()) return;
    throw InputError(
        where_, "ends too early, or its header is longer than 256 MiB: " + std::to_string(bytes) +
                    " bytes are announced at byte " + std::to_string(at_) + ", and " +
                    std::to_string(left()) + " are left");
  }

  void skip(std::uint64_t bytes) {
    require(bytes);
    at_ += static_cast<Index>(bytes);
  }
  void skip_many(std::uint64_t count, Index each) {
    if (count > left()) require(count);
    skip(count * static_cast<std::uint64_t>(each));  // below 2^32
  }

  void read(std::span<std::byte> out) {
    require(out.size());
    if (at_ < begin_ || at_ + std::ssize(out) > begin_ + std::ssize(piece_)) fetch(std::ssize(out));
    std::memcpy(out.data(), piece_.data() + (at_ - begin_), out.size());
    at_ += std::ssize(out);
  }
  void fetch(Index least) {
    check_stop(stop_);
    constexpr Index usual = 1 << 16;
    begin_ = at_;
    piece_.resize(std::min(std::max(least, usual), size_ - at_));
    bytes_.read(begin_, piece_);
  }

  const std::string& where_;
  const Bytes& bytes_;
  const Index size_;
  const std::stop_token& stop_;
  Index at_ = 0, begin_ = 0;
  std::vector<std::byte> piece_;  // from begin_ on
};

void check_gguf_begin(const std::string& where, GgufReader& reader) {
  if (reader.number<std::array<char, 4>>() != std::array{'G', 'G', 'U', 'F'})
    throw InputError(where, "does not begin with GGUF; expected a .gguf file");
  const auto version = reader.number<std::uint32_t>();
  if (version == 2 || version == 3) return;
  throw InputError(
      where, (version & 0xFFFF) == 0
                 ? std::string("is a big-endian GGUF file; expected a little-endian one")
                 : "is GGUF of version " + std::to_string(version) + "; expected version 2 or 3");
}

}  // namespace

GgufHeader read_gguf_header(const std::string& where, const Bytes& bytes, Index size,
                            const std::stop_token& stop) {
  GgufReader reader(where, bytes, size, stop);
  check_gguf_begin(where, reader);
  reader.number<std::uint64_t>();  // tensors
  const auto entries = reader.number<std::uint64_t>();
  constexpr std::string_view layers = ".block_count", heads = ".attention.head_count";
  constexpr std::uint64_t most_entries = 65536;
  constexpr std::size_t most_counts = 64;
  if (entries > most_entries)
    throw InputError(where, "has " + std::to_string(entries) + " entries of metadata; at most " +
                                std::to_string(most_entries) + " are expected");
  GgufHeader header;
  std::map<std::string, Index> counts;
  const auto count = [&](std::string_view ending) {
    const auto found = counts.find(header.architecture + std::string(ending));
    return found == counts.end() ? 0 : found->second;
  };
  for (std::uint64_t e = 0; e < entries; ++e) {
    // Vocabularies of megabytes follow.
    if (!header.name.empty() && count(layers) > 0 && count(heads) > 0) break;
    const std::string key = reader.key();
    const auto type = reader.number<GgufType>();
    if (type == GgufType::text && key == "general.architecture")
      header.architecture = reader.text(longest_text);
    else if (type == GgufType::text && key == "general.name")
      header.name = reader.text(longest_text);
    else if (counts.size() < most_counts && (key.ends_with(layers) || key.ends_with(heads)))
      counts[key] = reader.count(type);
    else
      reader.skip_value(type);
  }
  header.layers = count(layers);
  header.heads = count(heads);
  return header;
}

GgufHeader read_gguf_header(const std::string& path, const std::stop_token& stop) {
  const FileBytes file(path, FileBytes::Between::close);
  return read_gguf_header(path, file, file.size(), stop);
}

}  // namespace fovea
