#include "batch/journal.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "data/error.h"

namespace fovea {
namespace {

/// While it exists no other process reads or writes the journal.
class Turn {
 public:
  explicit Turn(FileLocks& file) : file_(file) { file_.wait_for(0, FileLocks::Kind::exclusive); }
  ~Turn() { file_.release(0); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  FileLocks& file_;
};

UnavailableError journal_error(const std::string& path, const std::string& what) {
  return UnavailableError(path + " cannot be " + what + ": " + std::strerror(errno));
}

off_t size_of(int descriptor, const std::string& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw journal_error(path, "read");
  return status.st_size;
}

std::string bytes_between(int descriptor, const std::string& path, off_t begin, off_t end) {
  std::string bytes(static_cast<std::size_t>(end - begin), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = ::pread(descriptor, bytes.data() + done, bytes.size() - done,
                                begin + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw journal_error(path, "read");
    if (got == 0) bytes.resize(done);
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace

Journal::Journal(const Directory& folder, const std::string& name)
    : path_(folder.path_of(name)), file_(folder, name) {
  const Turn turn(file_);
  unfinished_ = size_of(file_.descriptor(), path_) - size_of_whole_lines();
}

std::vector<std::string> Journal::news() {
  const Turn turn(file_);
  const std::string bytes =
      bytes_between(file_.descriptor(), path_, read_, size_of(file_.descriptor(), path_));
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = bytes.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(bytes.substr(begin, end - begin));
  read_ += static_cast<off_t>(begin);
  return lines;
}

// Only a process that was killed while it wrote leaves an unfinished line.
off_t Journal::size_of_whole_lines() const {
  constexpr off_t step = 1 << 16;
  const int descriptor = file_.descriptor();
  off_t keep = size_of(descriptor, path_);
  while (keep > 0) {
    const off_t begin = std::max(off_t{0}, keep - step);
    const std::string bytes = bytes_between(descriptor, path_, begin, keep);
    const auto end = bytes.rfind('\n');
    keep = end == std::string::npos ? begin : begin + static_cast<off_t>(end) + 1;
    if (end != std::string::npos) break;
  }
  return keep;
}

void Journal::append(std::string_view line) {
  const Turn turn(file_);
  const off_t begin = size_of_whole_lines();
  if (::ftruncate(file_.descriptor(), begin) != 0) throw journal_error(path_, "written");
  const std::string text = std::string(line) + '\n';
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t put = ::pwrite(file_.descriptor(), text.data() + done, text.size() - done,
                                 begin + static_cast<off_t>(done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const UnavailableError error = journal_error(path_, "written");
      [[maybe_unused]] const int cut = ::ftruncate(file_.descriptor(), begin);
      throw error;
    }
    done += static_cast<std::size_t>(put);
  }
}

}  // namespace fovea
