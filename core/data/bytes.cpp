#include "data/bytes.h"

#include <algorithm>
#include <utility>

#include "data/stop.h"

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

void read_in_pieces(const Bytes& bytes, Index begin, std::span<std::byte> out,
                    const std::stop_token& stop) {
  constexpr std::size_t piece = std::size_t{1} << 20;  // some 10 ms on a slow disk
  while (!out.empty()) {
    check_stop(stop);
    const auto now = out.first(std::min(piece, out.size()));
    bytes.read(begin, now);
    begin += std::ssize(now);
    out = out.subspan(now.size());
  }
}

std::shared_ptr<const Bytes> bytes_in_memory(std::span<const std::byte> content,
                                             std::shared_ptr<const void> owner) {
  return std::make_shared<MemoryBytes>(content, std::move(owner));
}

}  // namespace fovea
