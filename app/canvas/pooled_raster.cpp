#include "canvas/pooled_raster.h"

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

// Of up to 16 million colours.
class ColourSum {
 public:
  ColourSum() = default;
  explicit ColourSum(const Rgb& c) : channels_{c[0], c[1], c[2]} {}
  void add(const ColourSum& other) {
    for (std::size_t i = 0; i < channels_.size(); ++i) channels_[i] += other.channels_[i];
  }
  std::uint8_t mean(std::size_t channel, Index count) const {
    return static_cast<std::uint8_t>((Index{channels_[channel]} + count / 2) / count);
  }

 private:
  std::array<std::uint32_t, 3> channels_{};
};

class Categories {
 public:
  explicit Categories(const Colormap& map) {
    for (std::size_t i = 0; i < map.steps.size(); ++i) colours_[i] = ColourSum(map.steps[i]);
    colours_[256] = ColourSum(map.masked);
    colours_[257] = ColourSum(map.not_a_number);
  }
  const ColourSum& operator()(float category) const {
    const float rounded = category + 0.5f;  // a comparison with NaN is false
    int step = rounded > 0 ? static_cast<int>(std::min(rounded, 255.0f)) : 0;
    step = category == masked ? 256 : step;
    step = std::isnan(category) ? 257 : step;
    return colours_[static_cast<std::size_t>(step)];
  }

 private:
  std::array<ColourSum, 258> colours_;  // of categories, of what is masked, of no number
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
  std::vector<ColourSum> sums(static_cast<std::size_t>(cols));
  for (Index r = 0; r < rows; ++r) {
    const Index bottom = std::min((r + 1) * block.down, values.rows());
    std::ranges::fill(sums, ColourSum());
    for (Index i = r * block.down; i < bottom; ++i) {
      const float* from = values.row(i);
      for (Index c = 0, k = 0; c < cols; ++c)
        for (const Index right = std::min((c + 1) * block.across, values.cols()); k < right; ++k)
          sums[static_cast<std::size_t>(c)].add(colours(from[k]));
    }
    for (Index c = 0; c < cols; ++c) {
      const Index right = std::min((c + 1) * block.across, values.cols());
      const Index count = (bottom - r * block.down) * (right - c * block.across);
      for (std::size_t channel = 0; channel < 3; ++channel)
        out.push_back(sums[static_cast<std::size_t>(c)].mean(channel, count));
    }
  }
  return out;
}

}  // namespace fovea::canvas
