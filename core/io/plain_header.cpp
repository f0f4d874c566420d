#include "io/plain_header.h"

#include <charconv>
#include <optional>
#include <utility>

#include "data/utf8.h"
#include "io/json.h"

namespace fovea {
namespace {

/// Takes what it expects from the front of a text.
class PlainText {
 public:
  explicit PlainText(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  /// The mark, after white space, if it comes next.
  bool take(char mark) {
    skip_space();
    if (at_ == end_ || *at_ != mark) return false;
    ++at_;
    return true;
  }

  bool at_end() {
    skip_space();
    return at_ == end_;
  }

  bool take_string(std::string_view& out) {
    if (!take('"')) return false;
    const char* begin = at_;
    bool ascii = true;
    for (; at_ != end_ && *at_ != '"'; ++at_) {
      const auto byte = static_cast<unsigned char>(*at_);
      if (byte < 0x20 || byte == '\\') return false;
      ascii &= byte < 0x80;
    }
    out = std::string_view(begin, at_);
    return (ascii || is_utf8(out)) && take('"');
  }

  bool take_numbers(std::vector<Index>& out) {
    out.clear();
    if (!take('[')) return false;
    if (take(']')) return true;
    do
      if (!take_number(out.emplace_back())) return false;
    while (take(','));
    return take(']');
  }

  /// Takes an object of strings and returns its text. What the strings hold is not checked.
  std::optional<std::string_view> take_strings() {
    if (!take('{')) return {};
    const char* begin = at_ - 1;
    const auto ended = [&] { return std::optional(std::string_view(begin, at_)); };
    if (take('}')) return ended();
    do
      if (!skip_string() || !take(':') || !skip_string()) return {};
    while (take(','));
    if (!take('}')) return {};
    return ended();
  }

 private:
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  bool take_number(Index& out) {
    skip_space();
    const auto [after, error] = std::from_chars(at_, end_, out);
    // JSON has no number with a zero in front.
    if (error != std::errc{} || *at_ == '-' || (*at_ == '0' && after - at_ > 1)) return false;
    at_ = after;
    return true;
  }

  bool skip_string() {
    if (!take('"')) return false;
    for (; at_ != end_ && *at_ != '"'; ++at_)
      if (*at_ == '\\' && ++at_ == end_) return false;
    return take('"');
  }

  const char *at_, *end_;
};

bool take_tensor(PlainText& text, HeaderEntry& tensor) {
  enum { dtype = 1, shape = 2, offsets = 4 };
  int taken = 0;
  const auto once = [&](int part) { return (taken & part) == 0 && (taken |= part) != 0; };
  const auto take_part = [&](std::string_view name) {
    if (name == "dtype") return once(dtype) && text.take_string(tensor.dtype);
    if (name == "shape") return once(shape) && text.take_numbers(tensor.shape);
    return name == "data_offsets" && once(offsets) && text.take_numbers(tensor.offsets);
  };
  if (!text.take('{')) return false;
  do {
    std::string_view name;
    if (!text.take_string(name) || !text.take(':') || !take_part(name)) return false;
  } while (text.take(','));
  return taken == (dtype | shape | offsets) && text.take('}');
}

}  // namespace

bool read_plain_header(std::string_view header,
                       const std::function<void(const HeaderEntry&)>& tensor,
                       const std::function<void(std::string_view json)>& metadata) {
  PlainText text(header);
  if (!text.take('{')) return false;
  if (text.take('}')) return text.at_end();
  HeaderEntry entry;
  bool has_metadata = false;
  do {
    if (!text.take_string(entry.name) || !text.take(':')) return false;
    if (entry.name == "__metadata__") {
      const auto strings = text.take_strings();
      if (!strings || !Json::accept(*strings) || std::exchange(has_metadata, true)) return false;
      metadata(*strings);
    } else {
      if (!take_tensor(text, entry)) return false;
      tensor(entry);
    }
  } while (text.take(','));
  return text.take('}') && text.at_end();
}

}  // namespace fovea
