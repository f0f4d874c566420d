// A directory of .npy files: one tensor a file, named by it.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "data/error.h"
#include "io/mapped_file.h"
#include "io/npy.h"

namespace fovea {
namespace {

NamedTensor read_npy(const std::string& path, bool as_bfloat16) {
  const MappedFile mapped = map_file(path);
  const std::size_t begin =
      npy_header_bytes(path, mapped.bytes.first(std::min(npy_preamble, mapped.bytes.size())));
  if (begin > mapped.bytes.size())
    throw InputError(path, "a .npy header of " + std::to_string(begin) + " bytes in a file of " +
                               std::to_string(mapped.bytes.size()) + " bytes: it is cut off");
  NpyHeader header = parse_npy_header(path, mapped.bytes.first(begin), as_bfloat16);
  check_npy_size(path, header, mapped.bytes.size() - begin);
  header.tensor.name = std::filesystem::path(path).stem().string();
  header.tensor.data = mapped.bytes.data() + begin;
  header.tensor.owner = mapped.owner;
  return std::move(header.tensor);
}

}  // namespace

TensorFile read_npy_directory(const std::string& path, bool as_bfloat16) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".npy") files.push_back(at->path().string());
  if (error) throw InputError(path, "cannot be listed: " + error.message());
  if (files.empty())
    throw InputError(path, "a directory without .npy files: q.npy, k.npy and v.npy expected");
  std::ranges::sort(files);
  TensorFile out{.path = path, .kind = "npy directory"};
  for (const std::string& file : files) out.tensors.push_back(read_npy(file, as_bfloat16));
  return out;
}

}  // namespace fovea
