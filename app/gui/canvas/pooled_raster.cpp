#include "gui/canvas/pooled_raster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace fovea::canvas {
namespace {

constexpr float masked = -std::numeric_limits<float>::infinity();

// Each pools numbers one after another into `into`; nothing yet is `masked`.
struct Largest {
  static void add(float& into, float v) { into = v > into || std::isnan(v) ? v : into; }
};

struct LargestMagnitude {
  static void add(float& into, float v) {
    const bool more = into == masked || std::abs(v) > std::abs(into);
    into = std::isnan(v) || (v != masked && more) ? v : into;
  }
};

template <class Pooling>
Matrix pooled(const Matrix& values, PooledBlock block, Index rows, Index cols) {
  Matrix out(rows, cols, masked);
  std::vector<float> column(static_cast<std::size_t>(values.cols()));
  for (Index r = 0; r < rows; ++r) {
    const Index end = std::min((r + 1) * block.down, values.rows());
    std::copy_n(values.row(r * block.down), values.cols(), column.data());
    for (Index i = r * block.down + 1; i < end; ++i) {
      const float* from = values.row(i);
      for (std::size_t c = 0; c < column.size(); ++c) Pooling::add(column[c], from[c]);
    }
    for (Index c = 0; c < cols; ++c) {
      const Index last = std::min((c + 1) * block.across, values.cols());
      for (Index k = c * block.across; k < last; ++k)
        Pooling::add(out(r, c), column[static_cast<std::size_t>(k)]);
    }
  }
  return out;
}

Matrix means(const Matrix& values, PooledBlock block, Index rows, Index cols) {
  Matrix out(rows, cols, masked);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      double sum = 0;
      int count = 0;
      for (Index i = r * block.down; i < std::min((r + 1) * block.down, values.rows()); ++i)
        for (Index k = c * block.across; k < std::min((c + 1) * block.across, values.cols()); ++k) {
          if (values(i, k) == masked) continue;
          sum += static_cast<double>(values(i, k));
          ++count;
        }
      if (count > 0) out(r, c) = static_cast<float>(sum / count);
    }
  return out;
}

// The channels of a colour side by side, each with room for the sum of a million.
class ColourSum {
 public:
  ColourSum() = default;
  explicit ColourSum(const Rgb& c)
      : channels_(std::uint64_t{c[0]} | std::uint64_t{c[1]} << 21 | std::uint64_t{c[2]} << 42) {}
  void add(ColourSum other) { channels_ += other.channels_; }
  std::uint8_t mean(int channel, Index count) const {
    const auto sum = static_cast<Index>(channels_ >> (21 * channel) & 0x1fffff);
    return static_cast<std::uint8_t>((sum + count / 2) / count);
  }

 private:
  std::uint64_t channels_ = 0;
};

class Categories {
 public:
  explicit Categories(const Colormap& map) : masked_(map.masked), not_a_number_(map.not_a_number) {
    for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i] = ColourSum(map.steps[i]);
  }
  ColourSum operator()(float category) const {
    if (std::isnan(category)) return not_a_number_;
    if (category == masked) return masked_;
    return steps_[static_cast<std::size_t>(std::clamp(category + 0.5f, 0.0f, 255.0f))];
  }

 private:
  std::array<ColourSum, 256> steps_;
  ColourSum masked_, not_a_number_;
};

}  // namespace

Matrix pooled_values(const Raster& raster, PooledBlock block) {
  const Index rows = block.rows_of(raster), cols = block.cols_of(raster);
  if (raster.pooled == Pool::Kind::mean) return means(raster.values, block, rows, cols);
  if (raster.palette == Palette::diverging)
    return pooled<LargestMagnitude>(raster.values, block, rows, cols);
  return pooled<Largest>(raster.values, block, rows, cols);
}

std::vector<std::uint8_t> pooled_colours(const Raster& raster, const Colormap& map,
                                         PooledBlock block) {
  const Matrix& values = raster.values;
  const Index rows = block.rows_of(raster), cols = block.cols_of(raster);
  const Categories colours(map);
  std::vector<std::uint8_t> out;
  out.reserve(static_cast<std::size_t>(3 * rows * cols));
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      const Index bottom = std::min((r + 1) * block.down, values.rows());
      const Index right = std::min((c + 1) * block.across, values.cols());
      ColourSum sum;
      for (Index i = r * block.down; i < bottom; ++i)
        for (Index k = c * block.across; k < right; ++k) sum.add(colours(values(i, k)));
      const Index count = (bottom - r * block.down) * (right - c * block.across);
      for (int channel = 0; channel < 3; ++channel) out.push_back(sum.mean(channel, count));
    }
  return out;
}

}  // namespace fovea::canvas
