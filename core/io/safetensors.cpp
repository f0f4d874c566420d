// safetensors: u64 header length, JSON header, then the tensors in C order, little endian.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "data/error.h"
#include "data/memory.h"
#include "data/stop.h"
#include "io/file_bytes.h"
#include "io/json_place.h"
#include "io/plain_header.h"
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

constexpr const char* metadata_name = "__metadata__";

/// The bytes of a tensor, within the data.
struct Extent {
  Index begin = 0, end = 0;
  std::size_t tensor = 0;
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
  require_memory(length, path + ", header");
  std::string text(static_cast<std::size_t>(length), '\0');
  read_in_pieces(file, 8, std::as_writable_bytes(std::span(text)), stop);
  return text;
}

InputError twice(const std::string& where, std::string_view name) {
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

/// Makes a TensorFile of the entries of a header.
class HeaderReader {
 public:
  /// The data are the bytes [begin, size) of the file.
  HeaderReader(const std::string& path, std::shared_ptr<const Bytes> bytes, Index begin, Index size)
      : file_{.path = path, .kind = "safetensors"},
        bytes_(std::move(bytes)),
        begin_(begin),
        available_(size - begin) {}

  /// Nothing if the header has another form than programs write.
  std::optional<TensorFile> read_plain(std::string_view text, const std::stop_token& stop) &&;
  TensorFile read_json(std::string_view text, const std::stop_token& stop) &&;

 private:
  std::string header() const { return file_.path + ", header"; }
  /// Refuses a tensor of the file.
  InputError refusal(const NamedTensor& tensor, const std::string& message) const {
    return InputError(file_.path + ", " + fovea::quoted(tensor.name), message);
  }
  void add(std::string_view name, std::string_view dtype, std::vector<Index> shape,
           const std::vector<Index>& offsets);
  void add_metadata(const Json& entry);
  void check_no_holes();
  TensorFile take();

  TensorFile file_;
  const std::shared_ptr<const Bytes> bytes_;
  const Index begin_, available_;
  std::vector<Extent> extents_;
};

void HeaderReader::add(std::string_view name, std::string_view dtype, std::vector<Index> shape,
                       const std::vector<Index>& offsets) {
  NamedTensor& tensor = file_.tensors.emplace_back();
  tensor.name = name;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    throw refusal(tensor, "data_offsets are " + shape_text(offsets) + "; expected [begin,end]");
  if (offsets[1] > available_)
    throw refusal(tensor, "data_offsets are " + shape_text(offsets) + " but the file holds " +
                              std::to_string(available_) + " bytes of data");
  extents_.push_back({offsets[0], offsets[1], extents_.size()});
  tensor.bytes = bytes_;
  tensor.begin = begin_ + offsets[0];
  const auto known = std::ranges::find(dtypes, dtype, &DType::name);
  if (known == std::end(dtypes)) return;  // a newer type: an error when it is used
  tensor.type = known->type;
  const auto needed = packed_bytes(tensor.shape, known->bits);
  const Index found = offsets[1] - offsets[0];
  if (!needed || *needed != found)
    throw refusal(tensor, tensor.dtype + " of shape " + shape_text(tensor.shape) + " needs " +
                              (needed ? std::to_string(*needed) : "more than 2^63") +
                              " bytes, its data_offsets span " + std::to_string(found));
  tensor.strides = packed_strides(tensor.shape, known->bits / 8);
}

void HeaderReader::add_metadata(const Json& entry) {
  const std::string name = metadata_name;
  if (!entry.is_object()) throw JsonPlace(file_.path, entry, name).refusal("an object");
  for (const auto& [key, value] : entry.items())
    file_.metadata[key] = JsonPlace(file_.path, value, name + "." + key).as<std::string>();
}

void HeaderReader::check_no_holes() {
  std::ranges::sort(extents_, {}, [](const Extent& e) { return std::pair(e.begin, e.end); });
  Index end = 0;
  for (const Extent& extent : extents_) {
    const auto at = [&](const char* what) {
      return InputError(file_.path,
                        std::string(what) + " at byte " + std::to_string(extent.begin) +
                            " of the data, where " +
                            fovea::quoted(file_.tensors[extent.tensor].name) +
                            " begins; expected tensors side by side, the one before ends at " +
                            std::to_string(end));
    };
    if (extent.begin < end) throw at("tensors overlap");
    if (extent.begin > end) throw at("a hole");
    end = extent.end;
  }
  if (end != available_)
    throw InputError(file_.path, "the tensors end at byte " + std::to_string(end) + " of " +
                                     std::to_string(available_) +
                                     " bytes of data; expected no remainder");
}

TensorFile HeaderReader::take() {
  struct Named {
    std::string_view name;
    std::size_t tensor;
  };
  std::vector<Named> order;
  order.reserve(file_.tensors.size());
  for (const NamedTensor& tensor : file_.tensors) order.push_back({tensor.name, order.size()});
  // Merges the runs that are in order: of names of layers in the order of their numbers there are
  // few.
  std::ranges::stable_sort(order, {}, &Named::name);
  // One of two equal names would be lost, and nobody knows which one was meant.
  const auto same = std::ranges::adjacent_find(order, {}, &Named::name);
  if (same != order.end()) throw twice(header(), same->name);
  check_no_holes();
  // A second list of all tensors would need more memory than anything else here.
  for (std::size_t i = 0; i < order.size(); ++i) {
    NamedTensor first = std::move(file_.tensors[i]);
    std::size_t to = i;
    for (std::size_t from = order[i].tensor; from != i; from = order[to].tensor) {
      file_.tensors[to] = std::move(file_.tensors[from]);
      order[to].tensor = to;
      to = from;
    }
    file_.tensors[to] = std::move(first);
    order[to].tensor = to;
  }
  return std::move(file_);
}

std::optional<TensorFile> HeaderReader::read_plain(std::string_view text,
                                                   const std::stop_token& stop) && {
  require_memory(json_bytes(text), header() + ", as JSON");  // tensors take less
  const auto tensor = [&](const HeaderEntry& entry) {
    check_stop(stop);
    add(entry.name, entry.dtype, entry.shape, entry.offsets);
  };
  const auto metadata = [&](std::string_view json) {
    add_metadata(parse_json(header(), json, stop));
  };
  if (!read_plain_header(text, tensor, metadata)) return {};
  return take();
}

TensorFile HeaderReader::read_json(std::string_view text, const std::stop_token& stop) && {
  bool has_metadata = false;
  parse_entries(header(), text, stop, [&](const std::string& name, const Json& entry) {
    if (name == metadata_name) {
      if (std::exchange(has_metadata, true)) throw twice(header(), name);
      return add_metadata(entry);
    }
    const JsonPlace place(file_.path, entry, name);
    const std::vector<Index> offsets = counts(place.at("data_offsets"));
    const auto dtype = place.at("dtype").as<std::string>();
    add(name, dtype, counts(place.at("shape")), offsets);
  });
  return take();
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
  const auto data_begin = static_cast<Index>(8 + text.size());
  const auto reader = [&] { return HeaderReader(path, bytes, data_begin, size); };
  if (auto file = reader().read_plain(text, stop)) return *std::move(file);
  return reader().read_json(text, stop);
}

}  // namespace fovea
