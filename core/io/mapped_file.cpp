#include "io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "data/error.h"

namespace fovea {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

struct OpenFile {
  Descriptor descriptor;
  std::size_t size;
};

OpenFile open_for_reading(const std::string& path) {
  // Without O_NONBLOCK opening a pipe would wait for somebody to write to it.
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (descriptor.number() < 0) {
    if (errno == ENOENT) throw InputError(path, "there is no such file");
    throw InputError(path, std::string("cannot be opened: ") + std::strerror(errno));
  }
  struct stat status {};
  if (::fstat(descriptor.number(), &status) != 0)
    throw InputError(path, std::string("cannot be read: ") + std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw InputError(path, "is a directory: a file expected");
  if (!S_ISREG(status.st_mode)) throw InputError(path, "is a device or pipe: a file expected");
  if (status.st_size == 0) throw InputError(path, "is empty: a file with content expected");
  return {std::move(descriptor), static_cast<std::size_t>(status.st_size)};
}

}  // namespace

MappedFile map_file(const std::string& path) {
  const OpenFile file = open_for_reading(path);
  void* memory = ::mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, file.descriptor.number(), 0);
  if (memory == MAP_FAILED)
    throw UnavailableError(path + ": " + std::to_string(file.size) +
                           " bytes cannot be mapped: " + std::strerror(errno));
  std::shared_ptr<const void> owner(
      memory, [size = file.size](const void* p) { ::munmap(const_cast<void*>(p), size); });
  return {{static_cast<const std::byte*>(memory), file.size}, std::move(owner)};
}

std::size_t require_readable_file(const std::string& path) {
  return open_for_reading(path).size;
}

}  // namespace fovea
