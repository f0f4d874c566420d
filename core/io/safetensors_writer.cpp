#include "io/safetensors_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>

#include "data/error.h"
#include "io/atomic_file.h"
#include "io/json.h"

namespace fovea {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little endian");

std::span<const std::byte> bytes_of(const OutTensor& tensor) {
  std::size_t expected = 1;
  for (const Index size : tensor.shape) expected *= static_cast<std::size_t>(size);
  return std::visit(
      [&](const auto& values) {
        if (values.size() != expected)
          throw Error(1, "tensor '" + tensor.name + "' has " + std::to_string(values.size()) +
                             " values, " + std::to_string(expected) + " by its shape");
        return std::as_bytes(std::span(values));
      },
      tensor.values);
}

const char* type_of(const OutTensor& tensor) {
  constexpr std::array names{"F32", "I32", "U8"};  // in the order of the variant
  return names[tensor.values.index()];
}

/// Padded with spaces, so that the tensors start aligned.
std::string header_of(const std::vector<OutTensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t begin = 0;
  for (const OutTensor& tensor : tensors) {
    const std::size_t end = begin + bytes_of(tensor).size();
    if (header.contains(tensor.name)) throw Error(1, "two tensors named '" + tensor.name + "'");
    header[tensor.name] = {
        {"dtype", type_of(tensor)}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

/// Writes in pieces, so that it can stop between two pieces if cancelled, or at the first piece
/// that cannot be written.
void write_values(std::ostream& out, std::span<const std::byte> bytes,
                  const std::stop_token& stop) {
  constexpr std::size_t piece = 1 << 22;
  for (; !bytes.empty() && out; bytes = bytes.subspan(std::min(piece, bytes.size()))) {
    if (stop.stop_requested()) throw Cancelled();
    out.write(reinterpret_cast<const char*>(bytes.data()), std::min(piece, bytes.size()));
  }
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<OutTensor>& tensors,
                       const std::map<std::string, std::string>& metadata, std::stop_token stop) {
  const std::string header = header_of(tensors, metadata);
  write_atomically(path, [&](std::ostream& out) {
    const std::uint64_t length = header.size();
    out.write(reinterpret_cast<const char*>(&length), sizeof length);
    out << header;
    for (const OutTensor& tensor : tensors) write_values(out, bytes_of(tensor), stop);
  });
}

std::vector<std::byte> safetensors_bytes(const std::vector<OutTensor>& tensors,
                                         const std::map<std::string, std::string>& metadata) {
  const std::string header = header_of(tensors, metadata);
  const std::uint64_t length = header.size();
  std::size_t size = sizeof length + header.size();
  for (const OutTensor& tensor : tensors) size += bytes_of(tensor).size();
  std::vector<std::byte> out(size);
  auto end = out.begin();
  const auto append = [&end](std::span<const std::byte> bytes) {
    end = std::ranges::copy(bytes, end).out;
  };
  append(std::as_bytes(std::span(&length, 1)));
  append(std::as_bytes(std::span(header)));
  for (const OutTensor& tensor : tensors) append(bytes_of(tensor));
  return out;
}

}  // namespace fovea
