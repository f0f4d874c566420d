#include <cmath>
#include <limits>

#include "engine/panels/panels.h"

namespace fovea::panels {
namespace {

constexpr double log_floor = 1e-12;             // of |P~ - P| under a logarithm
constexpr Index band_entries = Index{1} << 21;  // of either operator held at once

// What is pooled; the logarithm is taken of pixels.
Difference difference_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::signed_difference:
      return Difference::signed_difference;
    case ErrorKind::relative:
      return Difference::relative;
    case ErrorKind::squared:
      return Difference::squared;
    case ErrorKind::absolute:
    case ErrorKind::log10_absolute:
      break;
  }
  return Difference::absolute;
}

double entry_error(Difference kind, double approximate, double exact) {
  const double difference = approximate - exact;
  switch (kind) {
    case Difference::signed_difference:
      return difference;
    case Difference::relative:
      if (difference == 0) return 0;
      return exact > 0 ? difference / exact
                       : std::copysign(std::numeric_limits<double>::infinity(), difference);
    case Difference::squared:
      return difference * difference;
    case Difference::absolute:
      break;
  }
  return std::abs(difference);
}

std::string quantity_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::signed_difference:
      return "P̃ − P";
    case ErrorKind::absolute:
      return "|P̃ − P|";
    case ErrorKind::squared:
      return "(P̃ − P)²";
    case ErrorKind::relative:
      return "(P̃ − P) / P";
    case ErrorKind::log10_absolute:
      return "log10 |P̃ − P|";
  }
  return "";
}

// Both operators row band by row band; a max-pooled pixel is its entry of largest magnitude.
Matrix pooled_error(const PanelInputs& in, const Grid& grid, Pool::Kind pool, Run& run) {
  const Difference kind = difference_of(in.settings.error);
  if (auto there = in.computation.op->difference(*in.exact.op, in.rows, in.cols,
                                                 {pool, grid.down, grid.across}, kind, run))
    return *std::move(there);
  Matrix out(grid.down, grid.across);
  Run quiet{run.profile, run.stop};
  const Index height = std::clamp<Index>(band_entries / in.cols.size(), 1, in.rows.size());
  Index pixel = 0;
  std::vector<double> sums(static_cast<std::size_t>(grid.across));
  for (Index begin = in.rows.begin; begin < in.rows.end; begin += height) {
    const IndexRange band{begin, std::min(begin + height, in.rows.end)};
    const Matrix a = in.computation.op->tile(band, in.cols, quiet);
    const Matrix e = in.exact.op->tile(band, in.cols, quiet);
    for (Index i = band.begin; i < band.end; ++i) {
      const float *approximate = a.row(i - band.begin), *exact = e.row(i - band.begin);
      for (Index c = 0; c < grid.across; ++c) {
        const IndexRange tokens = grid.col_tokens(c);
        double& sum = sums[static_cast<std::size_t>(c)];
        for (Index j = tokens.begin - in.cols.begin; j < tokens.end - in.cols.begin; ++j) {
          const double x = entry_error(kind, approximate[j], exact[j]);
          if (pool == Pool::Kind::mean)
            sum += x;
          else if (std::abs(x) > std::abs(sum) || (x == -sum && x > 0) || std::isnan(x))
            sum = x;
        }
      }
      const IndexRange rows = grid.row_tokens(pixel);
      if (i + 1 < rows.end) continue;
      for (Index c = 0; c < grid.across; ++c) {
        const double area = static_cast<double>(rows.size() * grid.col_tokens(c).size());
        const double sum = sums[static_cast<std::size_t>(c)];
        out(pixel, c) = static_cast<float>(pool == Pool::Kind::mean ? sum / area : sum);
      }
      std::ranges::fill(sums, 0.0);
      ++pixel;
    }
    if (run.progress)
      run.progress->fraction =
          static_cast<double>(band.end - in.rows.begin) / static_cast<double>(in.rows.size());
  }
  return out;
}

}  // namespace

Body error(const PanelInputs& in, std::string& caption, Run& run) {
  if (is_exact(in)) return Message{"zero by definition"};
  const Grid grid(in.rows, in.cols, in.max_pixels);
  const ErrorKind kind = in.settings.error;
  Raster raster;
  raster.rows = in.rows;
  raster.cols = in.cols;
  raster.pooled = grid.pool(in.settings.pool).kind;
  raster.quantity = quantity_of(kind);
  raster.values = pooled_error(in, grid, raster.pooled, run);
  if (kind == ErrorKind::log10_absolute)
    for (Index r = 0; r < grid.down; ++r)
      for (Index c = 0; c < grid.across; ++c)
        raster.values(r, c) = static_cast<float>(
            std::log10(std::max(log_floor, static_cast<double>(raster.values(r, c)))));
  set_range(raster);
  if (kind == ErrorKind::signed_difference || kind == ErrorKind::relative) {
    raster.palette = Palette::diverging;
    raster.high = std::max(std::abs(raster.low), std::abs(raster.high));
    raster.low = -raster.high;
    // A few large errors would leave all others white.
    if (in.settings.norm == Norm::log) raster.norm = Norm::log;
  } else if (kind != ErrorKind::log10_absolute && in.settings.norm == Norm::log) {
    raster.norm = Norm::log;
  }
  add_pooling(caption, grid, raster.pooled);
  if (in.metrics && in.metrics->attention_rel_fro.value > 0)
    add(caption, "relative " + number(in.metrics->attention_rel_fro.value) +
                     (in.metrics->sampled_rows > 0
                          ? " ± " + number(in.metrics->attention_rel_fro.standard_error)
                          : ""));
  return raster;
}

}  // namespace fovea::panels
