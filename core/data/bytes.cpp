#include "data/bytes.h"

#include <algorithm>
#include <utility>

namespace fovea {
namespace {

class MemoryBytes final : public Bytes {
 public:
  MemoryBytes(std::span<const std::byte> content, std::shared_ptr<const void> owner)
      : content_(content), owner_(std::move(owner)) {}

  void read(Index begin, std::span<std::byte> out) const override {
    std::copy_n(content_.data() + begin, out.size(), out.data());
  }

 private:
  std::span<const std::byte> content_;
  std::shared_ptr<const void> owner_;
};

}  // namespace

std::shared_ptr<const Bytes> bytes_in_memory(std::span<const std::byte> content,
                                             std::shared_ptr<const void> owner) {
  return std::make_shared<MemoryBytes>(content, std::move(owner));
}

}  // namespace fovea
