#include "input/jpeg_header.h"

#include <algorithm>
#include <cstddef>

namespace fovea {
namespace {

/// The bytes of a file; zeros where it ends.
class Reading {
 public:
  explicit Reading(std::string_view file) : file_(file) {}

  bool ends_before(std::size_t at) const { return at >= file_.size(); }
  int byte(std::size_t at) const {
    return ends_before(at) ? 0 : static_cast<unsigned char>(file_[at]);
  }
  int word(std::size_t at) const { return byte(at) << 8 | byte(at + 1); }

 private:
  std::string_view file_;
};

constexpr int start_of_scan = 0xDA;

/// Whether a marker begins a frame: 0xC0 to 0xCF except those of tables and of extensions.
bool is_frame(int marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

/// Whether no length follows a marker. 0 is no marker: 0xFF was a byte of data.
bool is_alone(int marker) {
  return marker == 0 || marker == 1 || (marker >= 0xD0 && marker <= 0xD9);
}

bool is_progressive(int frame) {
  return (frame & 3) == 2;
}

/// 2 bytes for each coefficient, one coefficient for each sample of whole blocks of 8 x 8. `at` is
/// the place of the frame's length.
double coefficient_bytes(const Reading& file, std::size_t at) {
  const int height = file.word(at + 3), width = file.word(at + 5), components = file.byte(at + 7);
  // Samples of a block, in which a component may have several.
  int across = 1, down = 1, samples = 0;
  for (int c = 0; c < components; ++c) {
    const int factors = file.byte(at + 9 + 3 * static_cast<std::size_t>(c));
    across = std::max(across, factors >> 4);
    down = std::max(down, factors & 15);
    samples += (factors >> 4) * (factors & 15);
  }
  const auto blocks = [](int side, int count) { return (side + 8 * count - 1) / (8 * count); };
  return 2.0 * 64 * samples * blocks(width, across) * blocks(height, down);
}

}  // namespace

// Skips everything that the decoder skips in damaged files, and more.
double jpeg_coefficient_bytes(std::string_view of) {
  const Reading file(of);
  double bytes = 0;
  bool progressive = false;
  int components = 0;
  for (std::size_t at = 2; !file.ends_before(at + 3);) {  // after the start of the image
    if (file.byte(at++) != 0xFF) continue;                // bytes before a marker are skipped
    const int marker = file.byte(at);
    if (marker == 0xFF) continue;  // filling
    ++at;
    if (is_alone(marker)) continue;
    if (is_frame(marker)) {
      bytes = coefficient_bytes(file, at);
      progressive = is_progressive(marker);
      components = file.byte(at + 7);
    }
    if (marker == start_of_scan) return progressive || file.byte(at + 2) < components ? bytes : 0;
    at += static_cast<std::size_t>(file.word(at));
  }
  return 0;
}

}  // namespace fovea
