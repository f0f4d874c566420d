// safetensors: u64 header length, JSON header, then the tensors in C order, little endian.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "data/error.h"
#include "data/memory.h"
#include "io/file_bytes.h"
#include "io/json.h"
#include "io/tensor_file.h"

namespace fovea {
namespace {

constexpr std::uint64_t longest_json_header = 100'000'000;

struct DType {
  const char* name;
  Index bits;
  std::optional<ElementType> type;
};

/// The types of the format; those without an ElementType cannot be read.
constexpr DType dtypes[] = {
    {"F64", 64, ElementType::f64},
    {"F32", 32, ElementType::f32},
    {"F16", 16, ElementType::f16},
    {"BF16", 16, ElementType::bf16},
    {"I64", 64, ElementType::i64},
    {"I32", 32, ElementType::i32},
    {"I16", 16, {}},
    {"I8", 8, ElementType::boolean},
    {"U64", 64, {}},
    {"U32", 32, {}},
    {"U16", 16, {}},
    {"U8", 8, ElementType::boolean},
    {"BOOL", 8, ElementType::boolean},
    {"C64", 64, {}},
    {"F8_E5M2", 8, {}},
    {"F8_E4M3", 8, {}},
    {"F8_E8M0", 8, {}},
    {"F6_E2M3", 6, {}},
    {"F6_E3M2", 6, {}},
    {"F4", 4, {}},
};

struct Extent {
  Index begin = 0, end = 0;
  std::string name;
};

std::string header_text(const std::string& path, const Bytes& file, Index size,
                        const std::stop_token& stop) {
  if (size < 8)
    throw InputError(path, std::to_string(size) +
                               " bytes: too short for a safetensors file, which begins with 8 "
                               "bytes of header length");
  std::array<std::byte, 8> begin;
  file.read(0, begin);
  std::uint64_t length = 0;
  for (std::size_t byte = 0; byte < 8; ++byte)
    length |= std::to_integer<std::uint64_t>(begin[byte]) << (8 * byte);
  if (length > longest_json_header)
    throw InputError(path, "its header would have " + std::to_string(length) +
                               " bytes; expected a safetensors file, with at most 100000000");
  if (static_cast<Index>(length) > size - 8)
    throw InputError(path, "a header of " + std::to_string(length) + " bytes in a file of " +
                               std::to_string(size) + " bytes: the file is cut off");
  require_memory(static_cast<double>(length), path + ", header");
  std::string text(static_cast<std::size_t>(length), '\0');
  read_in_pieces(file, 8, std::as_writable_bytes(std::span(text)), stop);
  return text;
}

const Json& member(const std::string& where, const Json& entry, const char* name) {
  const auto found = entry.find(name);
  if (found == entry.end()) throw InputError(where, std::string("has no ") + name);
  return *found;
}

/// A list of non-negative integers below 2^63.
std::vector<Index> counts(const std::string& where, const Json& list, const char* what) {
  const auto refuse = [&] {
    return InputError(where, std::string(what) + " is " + excerpt(list) +
                                 "; expected a list of non-negative integers");
  };
  if (!list.is_array()) throw refuse();
  std::vector<Index> out;
  for (const Json& value : list) {
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > largest) throw refuse();
    out.push_back(static_cast<Index>(value.get<std::uint64_t>()));
  }
  return out;
}

Extent read_extent(const std::string& where, const Json& entry, Index available) {
  const auto offsets = counts(where, member(where, entry, "data_offsets"), "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    throw InputError(where, "data_offsets are " + shape_text(offsets) + "; expected [begin,end]");
  if (offsets[1] > available)
    throw InputError(where, "data_offsets are " + shape_text(offsets) + " but the file holds " +
                                std::to_string(available) + " bytes of data");
  return {offsets[0], offsets[1], {}};
}

NamedTensor read_entry(const std::string& where, const std::string& name, const Json& entry,
                       const Extent& extent) {
  NamedTensor tensor;
  tensor.name = name;
  const Json& dtype = member(where, entry, "dtype");
  if (!dtype.is_string())
    throw InputError(where, "dtype is " + kind_of(dtype) + "; expected a string");
  tensor.dtype = dtype.get<std::string>();
  tensor.shape = counts(where, member(where, entry, "shape"), "shape");
  const auto known = std::ranges::find(dtypes, tensor.dtype, &DType::name);
  if (known == std::end(dtypes)) return tensor;  // a newer type: an error when it is used
  tensor.type = known->type;
  const auto bytes = packed_bytes(tensor.shape, known->bits);
  const Index found = extent.end - extent.begin;
  if (!bytes || *bytes != found)
    throw InputError(where, tensor.dtype + " of shape " + shape_text(tensor.shape) + " needs " +
                                (bytes ? std::to_string(*bytes) : "more than 2^63") +
                                " bytes, its data_offsets span " + std::to_string(found));
  tensor.strides = packed_strides(tensor.shape, known->bits / 8);
  return tensor;
}

void check_no_holes(const std::string& path, std::vector<Extent> extents, Index available) {
  std::ranges::sort(extents, {}, [](const Extent& e) { return std::pair(e.begin, e.end); });
  Index end = 0;
  for (const Extent& extent : extents) {
    const auto at = [&](const char* what) {
      return InputError(path,
                        std::string(what) + " at byte " + std::to_string(extent.begin) +
                            " of the data, where " + fovea::quoted(extent.name) +
                            " begins; expected tensors side by side, the one before ends at " +
                            std::to_string(end));
    };
    if (extent.begin < end) throw at("tensors overlap");
    if (extent.begin > end) throw at("a hole");
    end = extent.end;
  }
  if (end != available)
    throw InputError(path, "the tensors end at byte " + std::to_string(end) + " of " +
                               std::to_string(available) + " bytes of data; expected no remainder");
}

void read_metadata(const std::string& path, const Json& entry, TensorFile& file) {
  if (!entry.is_object())
    throw InputError(path, "__metadata__ is " + kind_of(entry) + "; expected an object");
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string())
      throw InputError(
          path, "metadata " + fovea::quoted(key) + " is " + kind_of(value) + "; expected a string");
    file.metadata[key] = value.get<std::string>();
  }
}

}  // namespace

TensorFile read_safetensors(const std::string& path, const std::stop_token& stop) {
  const auto bytes = std::make_shared<const FileBytes>(path);
  TensorFile file = read_safetensors(path, bytes, bytes->size(), stop);
  file.files = {bytes};
  return file;
}

TensorFile read_safetensors(const std::string& path, std::shared_ptr<const Bytes> bytes, Index size,
                            const std::stop_token& stop) {
  const std::string text = header_text(path, *bytes, size, stop);
  const Json header = parse_json(path + ", header", text, stop);
  if (!header.is_object())
    throw InputError(path, "the header is " + kind_of(header) + "; expected an object");

  TensorFile file{.path = path, .kind = "safetensors"};
  const auto data_begin = static_cast<Index>(8 + text.size());
  const Index available = size - data_begin;
  std::vector<Extent> extents;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      read_metadata(path, entry, file);
      continue;
    }
    const std::string where = path + ", " + fovea::quoted(name);
    if (!entry.is_object())
      throw InputError(where, "is " + kind_of(entry) + "; expected an object");
    Extent extent = read_extent(where, entry, available);
    NamedTensor tensor = read_entry(where, name, entry, extent);
    tensor.bytes = bytes;
    tensor.begin = data_begin + extent.begin;
    extent.name = name;
    extents.push_back(std::move(extent));
    file.tensors.push_back(std::move(tensor));
  }
  check_no_holes(path, std::move(extents), available);
  return file;
}

}  // namespace fovea
