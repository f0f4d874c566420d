#include "variants/rounded_tensor.h"

#include <algorithm>
#include <cmath>

#include "data/blocks.h"

namespace fovea {
namespace {

constexpr Index rows_of_turn = 256;
/// A block's largest number may exceed the format's by less than this factor, since scales are
/// rounded to float32. That is no clipping.
constexpr double clipping_slack = 1 + 1e-6;

double in_float32(double x) {
  return static_cast<double>(static_cast<float>(x));
}

double square_of(float x) {
  return static_cast<double>(x) * static_cast<double>(x);
}

/// The scales of all blocks of a tensor.
class Scales {
 public:
  Scales(MatrixView x, const RoundingRule& rule, const Run& run)
      : rows_(rule.blocks.rows), across_(number_of_blocks(x.cols, rule.blocks.cols)) {
    for (Index c = 0; c < x.cols; ++c) block_of_column_.push_back(c / rule.blocks.cols);
    scales_.resize(static_cast<std::size_t>(number_of_blocks(x.rows, rows_) * across_));
    for (Index i = 0; i < x.rows; ++i) {
      if (i % rows_of_turn == 0) run.check();
      double* const largest = scales_.data() + i / rows_ * across_;
      for (Index c = 0; c < x.cols; ++c)
        if (std::isfinite(x(i, c)))
          largest[block_of(c)] =
              std::max(largest[block_of(c)], std::abs(static_cast<double>(x(i, c))));
    }
    divide(rule);
  }

  /// The scales of the blocks that a row of the tensor goes through.
  const double* of_row(Index i) const { return scales_.data() + i / rows_ * across_; }
  Index block_of(Index column) const { return block_of_column_[static_cast<std::size_t>(column)]; }
  double largest() const { return std::ranges::max(scales_); }

 private:
  /// Makes scales of largest magnitudes.
  void divide(const RoundingRule& rule) {
    const double most = largest_of(rule.format);
    if (!rule.scales_in_e4m3) {
      for (double& scale : scales_) scale = in_float32(scale / most);
      return;
    }
    const double of_tensor = in_float32(largest() / (largest_of(NumberFormat::e4m3) * most));
    for (double& scale : scales_)
      scale =
          of_tensor > 0 ? of_tensor * rounded_to(NumberFormat::e4m3, scale / most / of_tensor) : 0;
  }

  Index rows_, across_;  // rows of a block, blocks side by side
  std::vector<Index> block_of_column_;
  std::vector<double> scales_;
};

struct Counts {
  Index clipped = 0, zeroed = 0;
};

float round_one(float x, double scale, NumberFormat format, Counts& counts) {
  if (!std::isfinite(x)) return std::nanf("");
  if (x == 0) return 0;
  const double quotient = scale > 0 ? static_cast<double>(x) / scale : 0;
  const auto rounded = static_cast<float>(rounded_to(format, quotient) * scale);
  counts.clipped += std::abs(quotient) > largest_of(format) * clipping_slack;
  counts.zeroed += rounded == 0;
  return rounded;
}

Counts round_all(MatrixView x, const Scales& scales, NumberFormat format, Matrix& out,
                 Planning& planning) {
  std::vector<Counts> of_turn(static_cast<std::size_t>(number_of_blocks(x.rows, rows_of_turn)));
  planning.backend.share_out(std::ssize(of_turn), planning.run, [&](Index turn) {
    Counts& counts = of_turn[static_cast<std::size_t>(turn)];
    const Index end = std::min(x.rows, (turn + 1) * rows_of_turn);
    for (Index i = turn * rows_of_turn; i < end; ++i) {
      const double* const scale = scales.of_row(i);
      for (Index c = 0; c < x.cols; ++c)
        out(i, c) = round_one(x(i, c), scale[scales.block_of(c)], format, counts);
    }
  });
  Counts all;
  for (const Counts& counts : of_turn) {
    all.clipped += counts.clipped;
    all.zeroed += counts.zeroed;
  }
  return all;
}

/// The squared error of the finite numbers of each column.
std::vector<double> column_errors(MatrixView x, MatrixView rounded, const Run& run) {
  std::vector<double> errors(static_cast<std::size_t>(x.cols));
  for (Index i = 0; i < x.rows; ++i) {
    if (i % rows_of_turn == 0) run.check();
    for (Index c = 0; c < x.cols; ++c) {
      if (!std::isfinite(x(i, c))) continue;
      const double apart = static_cast<double>(rounded(i, c)) - static_cast<double>(x(i, c));
      errors[static_cast<std::size_t>(c)] += apart * apart;
    }
  }
  return errors;
}

void set_errors(TensorRounding& rounding, const std::vector<double>& of_columns, double norm) {
  double sum = 0;
  for (const double error : of_columns) sum += error;
  if (sum == 0) return;
  rounding.error = std::sqrt(sum) / norm;
  const auto worst = std::ranges::max_element(of_columns);
  rounding.worst_channel = worst - of_columns.begin();
  rounding.worst_share = *worst / sum;
}

}  // namespace

RoundedTensor rounded_tensor(const std::string& name, MatrixView x, const RoundingRule& rule,
                             double norm, Index more_cols, Planning& planning) {
  const Scales scales(x, rule, planning.run);
  RoundedTensor out{Matrix::padded(x.rows, x.cols + more_cols), {.tensor = name}};
  const Counts counts = round_all(x, scales, rule.format, out.values, planning);
  const auto all = static_cast<double>(x.rows * x.cols);
  out.rounding.largest_scale = scales.largest();
  out.rounding.clipped = static_cast<double>(counts.clipped) / all;
  out.rounding.zeroed = static_cast<double>(counts.zeroed) / all;
  set_errors(out.rounding, column_errors(x, out.values, planning.run), norm);
  return out;
}

double frobenius_norm(MatrixView m) {
  double sum = 0;
  for (Index i = 0; i < m.rows; ++i)
    for (Index c = 0; c < m.cols; ++c)
      if (std::isfinite(m(i, c))) sum += square_of(m(i, c));
  return std::sqrt(sum);
}

}  // namespace fovea
