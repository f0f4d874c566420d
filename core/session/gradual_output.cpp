#include "session/gradual_output.h"

#include <algorithm>
#include <chrono>

namespace fovea {

GradualOutput::GradualOutput(std::shared_ptr<const Computation> prepared,
                             std::shared_ptr<MapPyramid> most, std::shared_ptr<MapPyramid> mean)
    : prepared_(std::move(prepared)), most_(std::move(most)), mean_(std::move(mean)) {
  const Problem& problem = prepared_->op->problem();
  output_ = {Matrix::uninitialised(problem.queries(), problem.dv()),
             std::vector<float>(problem.queries())};
  done_ = DoneRows(most_->overview_rows());
}

bool GradualOutput::advance(Index focus_row, double budget_ms, Run& run) {
  using Clock = std::chrono::steady_clock;
  const Index pixel = most_->overview_pixel();
  const IndexRange band = done_.next(focus_row / pixel, band_);
  if (band.size() == 0) return false;
  const Problem& problem = prepared_->op->problem();
  const IndexRange rows{band.begin * pixel, std::min(problem.queries(), band.end * pixel)};
  Profile its;  // the profile of a band that is stopped does not count
  Run part = run.quiet().in(its);
  const auto begin = Clock::now();
  RowsOutput found = prepared_->op->apply_rows(problem.v, rows, pixel, part);
  const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
  for (Index i = rows.begin; i < rows.end; ++i)
    std::copy_n(found.output.z.row(i - rows.begin), problem.dv(), output_.z.row(i));
  std::ranges::copy(found.output.lse, output_.lse.begin() + rows.begin);
  profile_.add(its);
  done_.add(band);
  // The maps are of the logits of the output (CudaOptions), whose factors may have 16 bits.
  const bool rounded = prepared_->precision == "bf16" || prepared_->precision == "fp16";
  mean_->put(band, {std::move(found.mean), Matrix::copy_of(found.most)}, rounded);
  most_->put(band, {std::move(found.most), {}}, rounded);
  run.reached(share());
  // At least two rows of pixels, so that two threads have work.
  const double target = static_cast<double>(band.size()) * budget_ms / std::max(took.count(), 0.1);
  band_ = std::clamp<Index>(static_cast<Index>(target), 2, 4 * band_);
  return !done_.all();
}

std::shared_ptr<const Computation> GradualOutput::finish() {
  if (whole_) return whole_;
  Computation whole = *prepared_;
  whole.set_output(std::move(output_));
  whole.first_run.apply = profile_;
  return whole_ = std::make_shared<const Computation>(std::move(whole));
}

}  // namespace fovea
