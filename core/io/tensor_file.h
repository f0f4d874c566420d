// A TensorFile is the content of a file of tensors: metadata and named, typed, strided arrays,
// which are read from the file or a buffer when they are needed. Nothing is converted or
// interpreted yet.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/shape.h"
#include "data/source.h"

namespace fovea {

struct NamedTensor {
  std::string name;
  std::string dtype;                // as in the file: "F32", "<f4", "F8_E4M3"
  std::optional<ElementType> type;  // nothing for a type that cannot be read
  bool big_endian = false;
  std::vector<Index> shape;
  std::vector<Index> strides;          // bytes
  std::shared_ptr<const Bytes> bytes;  // the file or buffer that holds it; null when not loaded
  Index begin = 0;                     // byte of element [0, ..]; may be unaligned
};

struct TensorFile {
  std::string path;
  std::string kind;  // "safetensors", "npz", "npy directory"
  std::vector<NamedTensor> tensors;
  std::map<std::string, std::string> metadata;
  std::vector<std::string> notes;  // to be shown: which members were ignored
  SourceFiles files;
};

/// Each checks every size against the file before it is used, and throws InputError for a file that
/// is not well formed, UnavailableError for a header that does not fit into the memory budget,
/// Cancelled.
/// Tensors of other types than ElementType are listed, and refused when used.
TensorFile read_safetensors(const std::string& path, const std::stop_token& stop = {});
/// Reads `size` bytes that come from elsewhere; messages call them `path`.
TensorFile read_safetensors(const std::string& path, std::shared_ptr<const Bytes> bytes, Index size,
                            const std::stop_token& stop = {});
/// `as_bfloat16`: 16-bit arrays without a floating type (u2, V2) hold bfloat16.
/// `reached` is called with the share of all arrays that has been read so far, in (0, 1].
/// Throws UnavailableError when the arrays do not fit into memory.
TensorFile read_npz(const std::string& path, bool as_bfloat16 = false,
                    const std::stop_token& stop = {},
                    const std::function<void(double share)>& reached = {});
/// One array, which is called after the file.
TensorFile read_npy_file(const std::string& path);
TensorFile read_npy_directory(const std::string& path, bool as_bfloat16 = false,
                              const std::stop_token& stop = {});

/// Throws InputError, with the options that would help, when the tensor has another type.
ElementType require_float(const TensorFile& file, const NamedTensor& tensor);

/// Bytes of `shape` packed elements of `bits` bits; nothing when that overflows.
std::optional<Index> packed_bytes(const std::vector<Index>& shape, Index bits);

/// Strides of C order, in bytes. The product of `shape` must not overflow.
std::vector<Index> packed_strides(const std::vector<Index>& shape, Index element_bytes);

}  // namespace fovea
