// A directory of .npy files: each holds one tensor, which is named after the file.
#include <algorithm>
#include <filesystem>

#include "data/error.h"
#include "data/stop.h"
#include "io/file_bytes.h"
#include "io/folder.h"
#include "io/npy.h"

namespace fovea {
namespace {

// With more files than this, none is kept open: a process may usually have 1024.
constexpr std::size_t most_open = 256;

NamedTensor read_npy(const std::shared_ptr<const FileBytes>& file, bool as_bfloat16) {
  const std::string& path = file->path();
  const auto size = static_cast<std::size_t>(file->size());
  std::vector<std::byte> header(std::min(npy_preamble, size));
  file->read(0, header);
  const std::size_t begin = npy_header_bytes(path, header);
  if (begin > size)
    throw InputError(path, "a .npy header of " + std::to_string(begin) + " bytes in a file of " +
                               std::to_string(size) + " bytes: it is cut off");
  header.resize(begin);
  file->read(0, header);
  NpyHeader parsed = parse_npy_header(path, header, as_bfloat16);
  check_npy_size(path, parsed, size - begin);
  parsed.tensor.name = std::filesystem::path(path).stem().string();
  parsed.tensor.bytes = file;
  parsed.tensor.begin = begin;
  return std::move(parsed.tensor);
}

}  // namespace

TensorFile read_npy_file(const std::string& path) {
  TensorFile out{.path = path, .kind = "npy"};
  out.files.push_back(std::make_shared<const FileBytes>(path));
  out.tensors.push_back(read_npy(out.files.back(), false));
  return out;
}

TensorFile read_npy_directory(const std::string& path, bool as_bfloat16,
                              const std::stop_token& stop) {
  std::vector<std::string> files = paths_in(path, stop);
  std::erase_if(files, [](const std::string& file) {
    return std::filesystem::path(file).extension() != ".npy";
  });
  if (files.empty())
    throw InputError(path, "a directory without .npy files; expected q.npy, k.npy and v.npy");
  TensorFile out{.path = path, .kind = "npy directory"};
  const auto between =
      files.size() > most_open ? FileBytes::Between::close : FileBytes::Between::keep_open;
  for (const std::string& file : files) {
    check_stop(stop);
    out.files.push_back(std::make_shared<const FileBytes>(file, between));
    out.tensors.push_back(read_npy(out.files.back(), as_bfloat16));
  }
  return out;
}

}  // namespace fovea
