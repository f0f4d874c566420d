// safetensors: u64 header length, JSON header, then the tensors in C order, little endian.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "data/error.h"
#include "data/memory.h"
#include "io/file_bytes.h"
#include "io/json_place.h"
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

InputError twice(const std::string& where, const std::string& name) {
  return InputError(where, "the name " + fovea::quoted(name) + " occurs twice; expected once");
}

/// A list of non-negative integers below 2^63.
std::vector<Index> counts(const JsonPlace& list) {
  constexpr const char* expected = "a list of non-negative integers";
  std::vector<Index> out;
  for (const JsonPlace& item : list.items(expected))
    out.push_back(item.whole(0, std::numeric_limits<Index>::max(), expected));
  return out;
}

/// Refuses a tensor of the file.
InputError refusal(const std::string& path, const std::string& name, const std::string& message) {
  return InputError(path + ", " + fovea::quoted(name), message);
}

Extent read_extent(const std::string& path, const std::string& name, const JsonPlace& entry,
                   Index available) {
  const auto offsets = counts(entry.at("data_offsets"));
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    throw refusal(path, name, "data_offsets are " + shape_text(offsets) + "; expected [begin,end]");
  if (offsets[1] > available)
    throw refusal(path, name,
                  "data_offsets are " + shape_text(offsets) + " but the file holds " +
                      std::to_string(available) + " bytes of data");
  return {offsets[0], offsets[1], name};
}

NamedTensor read_entry(const std::string& path, const std::string& name, const JsonPlace& entry,
                       const Extent& extent) {
  NamedTensor tensor;
  tensor.name = name;
  tensor.dtype = entry.at("dtype").as<std::string>();
  tensor.shape = counts(entry.at("shape"));
  const auto known = std::ranges::find(dtypes, tensor.dtype, &DType::name);
  if (known == std::end(dtypes)) return tensor;  // a newer type: an error when it is used
  tensor.type = known->type;
  const auto bytes = packed_bytes(tensor.shape, known->bits);
  const Index found = extent.end - extent.begin;
  if (!bytes || *bytes != found)
    throw refusal(path, name,
                  tensor.dtype + " of shape " + shape_text(tensor.shape) + " needs " +
                      (bytes ? std::to_string(*bytes) : "more than 2^63") +
                      " bytes, its data_offsets span " + std::to_string(found));
  tensor.strides = packed_strides(tensor.shape, known->bits / 8);
  return tensor;
}

/// One of two equal names would be lost, and nobody knows which one was meant.
void check_names(const std::string& where, const std::vector<NamedTensor>& sorted) {
  const auto same = std::ranges::adjacent_find(sorted, {}, &NamedTensor::name);
  if (same != sorted.end()) throw twice(where, same->name);
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

void read_metadata(const std::string& path, const std::string& name, const Json& entry,
                   TensorFile& file) {
  if (!entry.is_object()) throw JsonPlace(path, entry, name).refusal("an object");
  for (const auto& [key, value] : entry.items())
    file.metadata[key] = JsonPlace(path, value, name + "." + key).as<std::string>();
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
  const std::string where = path + ", header";

  TensorFile file{.path = path, .kind = "safetensors"};
  const auto data_begin = static_cast<Index>(8 + text.size());
  const Index available = size - data_begin;
  std::vector<Extent> extents;
  bool has_metadata = false;
  parse_entries(where, text, stop, [&](const std::string& name, const Json& entry) {
    if (name == "__metadata__") {
      if (std::exchange(has_metadata, true)) throw twice(where, name);
      return read_metadata(path, name, entry, file);
    }
    const JsonPlace place(path, entry, name);
    Extent extent = read_extent(path, name, place, available);
    NamedTensor tensor = read_entry(path, name, place, extent);
    tensor.bytes = bytes;
    tensor.begin = data_begin + extent.begin;
    extents.push_back(std::move(extent));
    file.tensors.push_back(std::move(tensor));
  });
  std::ranges::sort(file.tensors, {}, &NamedTensor::name);
  check_names(where, file.tensors);
  check_no_holes(path, std::move(extents), available);
  return file;
}

}  // namespace fovea
