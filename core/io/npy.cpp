#include "io/npy.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <string_view>

#include "data/error.h"

namespace fovea {
namespace {

constexpr std::size_t longest_header = 1 << 20;  // structured types with many fields get this long

/// Reads the Python literals of a header. Nothing is evaluated.
class Literals {
 public:
  Literals(const std::string& where, std::string_view text) : where_(where), text_(text) {}

  InputError refusal(const std::string& expected) const {
    const std::string found = at_ < text_.size() ? fovea::quoted(text_.substr(at_, 16)) : "its end";
    return InputError(where_, "the .npy header has " + found + " at character " +
                                  std::to_string(at_) + "; expected " + expected);
  }

  bool accept(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) throw refusal(std::string("'") + c + "'");
  }
  bool at_end() {
    skip_blanks();
    return at_ >= text_.size();
  }

  std::string string() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') throw refusal("a string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) throw refusal("a string that ends");
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }

  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    throw refusal("True or False");
  }

  std::vector<Index> tuple() {
    expect('(');
    std::vector<Index> out;
    while (!accept(')')) {
      skip_blanks();
      Index value = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc{} || value < 0) throw refusal("a non-negative integer");
      at_ = end - text_.data();
      accept('L');  // Python 2
      out.push_back(value);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return out;
  }

  /// A string, or the fields of a structured type up to its closing bracket.
  std::string type() {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != '[') return string();
    int depth = 0;
    do {
      if (at_ >= text_.size()) throw refusal("a type that ends");
      if (text_[at_] == '\'' || text_[at_] == '"') {
        string();
        continue;
      }
      depth += text_[at_] == '[' ? 1 : text_[at_] == ']' ? -1 : 0;
      ++at_;
    } while (depth > 0);
    return "structured";
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  const std::string& where_;
  std::string_view text_;
  std::size_t at_ = 0;
};

struct Fields {
  std::string descr;
  bool fortran_order = false;
  std::vector<Index> shape;
};

Fields read_dict(const std::string& where, std::string_view text) {
  Literals in(where, text);
  Fields fields;
  std::set<std::string> seen;
  in.expect('{');
  while (!in.accept('}')) {
    const std::string key = in.string();
    if (!seen.insert(key).second)
      throw InputError(where,
                       "the .npy header has " + fovea::quoted(key) + " twice; expected once");
    in.expect(':');
    if (key == "descr") {
      fields.descr = in.type();
    } else if (key == "fortran_order") {
      fields.fortran_order = in.boolean();
    } else if (key == "shape") {
      fields.shape = in.tuple();
    } else {
      throw InputError(where, "the .npy header has the name " + fovea::quoted(key) +
                                  "; expected descr, fortran_order and shape");
    }
    if (!in.accept(',')) {
      in.expect('}');
      break;
    }
  }
  if (!in.at_end()) throw in.refusal("nothing more");
  for (const char* key : {"descr", "fortran_order", "shape"})
    if (!seen.contains(key)) throw InputError(where, std::string("the .npy header has no ") + key);
  return fields;
}

/// Bytes of an element of a plain numeric type such as "<f4"; nothing for all others.
std::optional<Index> element_bytes(std::string_view descr) {
  if (descr.size() < 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos ||
      std::string_view("biufcSV").find(descr[1]) == std::string_view::npos)
    return std::nullopt;
  int bytes = 0;
  const auto [end, error] = std::from_chars(descr.data() + 2, descr.data() + descr.size(), bytes);
  if (error != std::errc{} || end != descr.data() + descr.size() || bytes < 0 || bytes > 1 << 20)
    return std::nullopt;
  return bytes;
}

std::optional<ElementType> element_type(std::string_view descr, bool as_bfloat16) {
  const std::string_view kind = descr.substr(std::min<std::size_t>(1, descr.size()));
  if (kind == "f8") return ElementType::f64;
  if (kind == "f4") return ElementType::f32;
  if (kind == "f2") return ElementType::f16;
  if (kind == "i8") return ElementType::i64;
  if (kind == "i4") return ElementType::i32;
  if (kind == "b1" || kind == "i1" || kind == "u1") return ElementType::boolean;
  if (as_bfloat16 && (kind == "u2" || kind == "V2")) return ElementType::bf16;
  return std::nullopt;
}

std::size_t byte_at(std::span<const std::byte> bytes, std::size_t i) {
  return std::to_integer<std::size_t>(bytes[i]);
}

/// Bytes of magic, version and length.
std::size_t prologue_bytes(std::span<const std::byte> begin) {
  return byte_at(begin, 6) == 1 ? 10 : 12;
}

}  // namespace

std::size_t npy_header_bytes(const std::string& where, std::span<const std::byte> begin) {
  constexpr std::string_view magic = "\x93NUMPY";
  const std::string_view text(reinterpret_cast<const char*>(begin.data()), begin.size());
  if (!text.starts_with(magic))
    throw InputError(where, "does not begin like a .npy array; expected \\x93NUMPY and a version");
  if (begin.size() < npy_preamble)
    throw InputError(
        where, "ends after " + std::to_string(begin.size()) + " bytes, within the .npy header");
  const std::size_t version = byte_at(begin, 6);
  if (version < 1 || version > 3)
    throw InputError(where, ".npy version " + std::to_string(version) + "; expected 1, 2 or 3");
  std::size_t length = byte_at(begin, 8) | byte_at(begin, 9) << 8;
  if (version > 1) length |= byte_at(begin, 10) << 16 | byte_at(begin, 11) << 24;
  if (length > longest_header)
    throw InputError(where, "a .npy header of " + std::to_string(length) +
                                " bytes; expected at most " + std::to_string(longest_header));
  if (length < 2) throw InputError(where, "an empty .npy header; expected descr and shape");
  return prologue_bytes(begin) + length;
}

NpyHeader parse_npy_header(const std::string& where, std::span<const std::byte> header,
                           bool as_bfloat16) {
  const auto dict = header.subspan(prologue_bytes(header));
  Fields fields = read_dict(where, {reinterpret_cast<const char*>(dict.data()), dict.size()});
  NpyHeader out;
  NamedTensor& tensor = out.tensor;
  tensor.dtype = fields.descr;
  tensor.type = element_type(fields.descr, as_bfloat16);
  tensor.big_endian = fields.descr.starts_with('>');
  tensor.shape = std::move(fields.shape);
  const auto element = element_bytes(fields.descr);
  if (!element) {
    tensor.type.reset();
    return out;
  }
  out.data_bytes = packed_bytes(tensor.shape, 8 * *element);
  if (!out.data_bytes)
    throw InputError(where, "shape " + shape_text(tensor.shape) + " of " + tensor.dtype +
                                " needs more than 2^63 bits");
  if (fields.fortran_order) {
    std::vector<Index> reversed(tensor.shape.rbegin(), tensor.shape.rend());
    tensor.strides = packed_strides(reversed, *element);
    std::ranges::reverse(tensor.strides);
  } else {
    tensor.strides = packed_strides(tensor.shape, *element);
  }
  return out;
}

void check_npy_size(const std::string& where, const NpyHeader& header, std::size_t found) {
  if (header.data_bytes && static_cast<std::size_t>(*header.data_bytes) != found)
    throw InputError(where, header.tensor.dtype + " of shape " + shape_text(header.tensor.shape) +
                                " needs " + std::to_string(*header.data_bytes) + " bytes, " +
                                std::to_string(found) + " follow the header");
}

}  // namespace fovea
