// .npz: a zip of .npy arrays, stored or deflated. The library reads the central directory, ZIP64
// sizes and checksums. Its sizes are checked against the arrays' shapes before memory is allocated.
#include <zip.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <set>
#include <string_view>

#include "data/error.h"
#include "data/memory.h"
#include "data/stop.h"
#include "io/compressed_tensors.h"
#include "io/condition_tensors.h"
#include "io/file_bytes.h"
#include "io/npy.h"
#include "io/selection_tensors.h"

namespace fovea {
namespace {

struct Close {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};

/// The file as the library reads it, always of the version that was opened.
class ArchiveBytes {
 public:
  explicit ArchiveBytes(const FileBytes& file) : file_(file) { zip_error_init(&error_); }
  ~ArchiveBytes() { zip_error_fini(&error_); }
  ArchiveBytes(const ArchiveBytes&) = delete;
  ArchiveBytes& operator=(const ArchiveBytes&) = delete;

  /// Throws the exception that ended a read. The library knows only that the read failed.
  void require_read() const {
    if (failed_) std::rethrow_exception(failed_);
  }
  static zip_int64_t answer(void* self, void* data, zip_uint64_t size, zip_source_cmd_t command) {
    return static_cast<ArchiveBytes*>(self)->answer(data, size, command);
  }

 private:
  zip_int64_t answer(void* data, zip_uint64_t size, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_SEEKABLE;
      case ZIP_SOURCE_OPEN:
        at_ = 0;
        return 0;
      case ZIP_SOURCE_READ:
        return read({static_cast<std::byte*>(data), static_cast<std::size_t>(size)});
      case ZIP_SOURCE_SEEK: {
        const auto all = static_cast<zip_uint64_t>(file_.size());
        const zip_int64_t at = zip_source_seek_compute_offset(at_, all, data, size, &error_);
        if (at < 0) return -1;
        at_ = at;
        return 0;
      }
      case ZIP_SOURCE_TELL:
        return at_;
      case ZIP_SOURCE_STAT: {
        auto* status = static_cast<zip_stat_t*>(data);
        zip_stat_init(status);
        status->valid = ZIP_STAT_SIZE;
        status->size = file_.size();
        return sizeof *status;
      }
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&error_, data, size);
      default:
        return 0;  // there is nothing to close or to free
    }
  }

  zip_int64_t read(std::span<std::byte> out) {
    const auto all = static_cast<std::size_t>(file_.size());
    out = out.first(std::min(out.size(), all - at_));
    try {
      read_through_window(out);
    } catch (...) {  // exceptions cannot pass through the library
      failed_ = std::current_exception();
      window_.clear();
      zip_error_set(&error_, ZIP_ER_READ, 0);
      return -1;
    }
    at_ += out.size();
    return out.size();
  }

  /// The library reads headers in pieces of a few bytes, some nine for an array: they come from a
  /// part of the file that is read at once.
  void read_through_window(std::span<std::byte> out) {
    constexpr std::size_t most = std::size_t{1} << 16;
    if (out.size() >= most) return file_.read(at_, out);
    if (at_ < window_begin_ || at_ + out.size() > window_begin_ + window_.size()) {
      window_.resize(std::min(most, static_cast<std::size_t>(file_.size()) - at_));
      window_begin_ = at_;
      file_.read(at_, window_);
    }
    std::ranges::copy(std::span(window_).subspan(at_ - window_begin_, out.size()), out.begin());
  }

  const FileBytes& file_;
  zip_uint64_t at_ = 0;
  std::vector<std::byte> window_;  // the bytes of the file from window_begin_ on
  zip_uint64_t window_begin_ = 0;
  zip_error_t error_;
  std::exception_ptr failed_;
};

using Archive = std::unique_ptr<zip_t, Close>;

/// `bytes` must outlive it.
Archive open_archive(ArchiveBytes& bytes, const std::string& path) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_function_create(ArchiveBytes::answer, &bytes, &error);
  Archive archive(source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr);
  if (source && !archive) zip_source_free(source);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (archive) return archive;
  const std::string fault = "not a zip archive";
  if (reason.ends_with(fault.substr(1))) throw InputError(path, fault);  // capital letter or not
  throw InputError(path, fault + " that can be read: " + reason);
}

/// One member, read from front to back.
class Member {
 public:
  Member(zip_t* archive, zip_uint64_t index, std::string where, std::size_t size)
      : where_(std::move(where)), left_(size), file_(zip_fopen_index(archive, index, 0)) {
    if (!file_) throw InputError(where_, std::string("cannot be read: ") + zip_strerror(archive));
  }

  const std::string& where() const { return where_; }
  /// Bytes not read yet, according to the archive.
  std::size_t left() const { return left_; }

  void read(std::span<std::byte> out) {
    while (!out.empty()) {
      const std::size_t got = read_some(out);
      if (got == 0)
        throw InputError(where_, "ends " + std::to_string(left_) +
                                     " bytes before the size that the archive declares");
      out = out.subspan(got);
      left_ -= got;
    }
  }

  /// Reads to the end, where the library compares the checksum.
  void expect_end() {
    std::byte beyond;
    if (read_some({&beyond, 1}) != 0)
      throw InputError(where_, "continues beyond the size that the archive declares");
  }

 private:
  std::size_t read_some(std::span<std::byte> out) {
    const zip_int64_t got = zip_fread(file_.get(), out.data(), out.size());
    if (got < 0)
      throw InputError(where_, std::string("is damaged: ") + zip_file_strerror(file_.get()));
    return got;
  }

  std::string where_;
  std::size_t left_;
  std::unique_ptr<zip_file_t, Close> file_;
};

/// The array without its data.
NamedTensor read_header(Member& member, const std::string& name, bool as_bfloat16) {
  std::vector<std::byte> header(std::min(npy_preamble, member.left()));
  member.read(header);
  const std::size_t begin = npy_header_bytes(member.where(), header);
  if (begin - npy_preamble > member.left())
    throw InputError(member.where(), "a .npy header of " + std::to_string(begin) +
                                         " bytes is more than the archive declares for it");
  header.resize(begin);
  member.read(std::span(header).subspan(npy_preamble));

  NpyHeader parsed = parse_npy_header(member.where(), header, as_bfloat16);
  check_npy_size(member.where(), parsed, member.left());
  NamedTensor tensor = std::move(parsed.tensor);
  tensor.name = name;
  return tensor;
}

/// Whether an array can be used. The others are only listed.
bool has_use(const NamedTensor& tensor) {
  return tensor.type && (is_float(*tensor.type) || may_be_condition(tensor.name) ||
                         may_be_entry_tensor(tensor.name) || may_be_selection(tensor.name));
}

/// `was_read` is called with the bytes of each piece.
NamedTensor read_array(Member& member, const std::string& name, bool as_bfloat16,
                       const std::stop_token& stop,
                       const std::function<void(std::size_t)>& was_read) {
  NamedTensor tensor = read_header(member, name, as_bfloat16);
  if (!has_use(tensor)) return tensor;
  const std::size_t bytes = member.left();
  const auto data = allocate_bytes(bytes, member.where());
  constexpr std::size_t piece = std::size_t{1} << 20;
  for (std::size_t begin = 0; begin < bytes; begin += piece) {
    check_stop(stop);
    const std::size_t size = std::min(piece, bytes - begin);
    member.read({data.get() + begin, size});
    was_read(size);
  }
  member.expect_end();
  tensor.bytes = bytes_in_memory({data.get(), bytes}, data);
  return tensor;
}

/// A member that is an array.
struct Listed {
  zip_uint64_t index;
  std::string where, name;
  std::size_t size;
  Member open(zip_t* archive) const { return Member(archive, index, where, size); }
};

/// The arrays of an archive. What is not an array is noted in `out`.
std::vector<Listed> list_arrays(zip_t* archive, const std::string& path, TensorFile& out) {
  std::vector<Listed> arrays;
  std::set<std::string> names;
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    zip_stat_t status;
    if (zip_stat_index(archive, index, 0, &status) != 0)
      throw InputError(path, std::string("a damaged archive: ") + zip_strerror(archive));
    if (!(status.valid & ZIP_STAT_NAME) || !(status.valid & ZIP_STAT_SIZE))
      throw InputError(path, "a member without name or size");
    const std::string name = status.name;
    if (!name.ends_with(".npy")) {
      out.notes.push_back("Ignored: " + fovea::quoted(name) + ", which is not a .npy array.");
      continue;
    }
    if (!names.insert(name).second)
      throw InputError(path, fovea::quoted(name) + " occurs twice; expected once");
    arrays.push_back({index, path + ", " + fovea::quoted(name), name.substr(0, name.size() - 4),
                      static_cast<std::size_t>(status.size)});
  }
  return arrays;
}

/// Bytes of all arrays together, found before the first is unpacked.
double require_room(zip_t* archive, const std::vector<Listed>& arrays, const std::string& path,
                    bool as_bfloat16, const std::stop_token& stop) {
  double bytes = 0;
  for (const Listed& array : arrays) {
    check_stop(stop);
    Member member = array.open(archive);
    if (has_use(read_header(member, array.name, as_bfloat16)))
      bytes += static_cast<double>(member.left());
  }
  require_memory(bytes, path);
  return bytes;
}

TensorFile read_archive(ArchiveBytes& bytes, const std::string& path, bool as_bfloat16,
                        const std::stop_token& stop,
                        const std::function<void(double share)>& reached) {
  const Archive archive = open_archive(bytes, path);
  TensorFile out{.path = path, .kind = "npz"};
  const std::vector<Listed> arrays = list_arrays(archive.get(), path, out);
  const double all = require_room(archive.get(), arrays, path, as_bfloat16, stop);
  double done = 0;
  const auto was_read = [&](std::size_t size) {
    done += static_cast<double>(size);
    if (reached) reached(done / all);
  };
  for (const Listed& array : arrays) {
    Member member = array.open(archive.get());
    out.tensors.push_back(read_array(member, array.name, as_bfloat16, stop, was_read));
  }
  return out;
}

}  // namespace

TensorFile read_npz(const std::string& path, bool as_bfloat16, const std::stop_token& stop,
                    const std::function<void(double share)>& reached) {
  const auto file = std::make_shared<const FileBytes>(path);
  ArchiveBytes bytes(*file);
  try {
    TensorFile out = read_archive(bytes, path, as_bfloat16, stop, reached);
    out.files = {file};
    return out;
  } catch (const InputError&) {
    bytes.require_read();
    throw;
  }
}

}  // namespace fovea
