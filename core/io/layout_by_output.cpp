#include "io/layout_by_output.h"

#include <algorithm>
#include <cmath>

#include "data/attended_row.h"

namespace fovea {
namespace {

/// Beyond rounding of weights and outputs to bf16, and far below what other heads give.
constexpr double most_error = 0.03;

bool gives_row(const Problem& head, const Matrix& z, Index i) {
  const AttendedRow row = attend(head, i);
  double error = 0;
  for (std::size_t c = 0; c < row.z.size(); ++c) {
    const double apart = row.z[c] - static_cast<double>(z(i, static_cast<Index>(c)));
    error += apart * apart;
  }
  return std::sqrt(error) <= most_error * row.spread;
}

}  // namespace

bool gives_output(const HeadTensor& q, const HeadTensor& k, const HeadTensor& v,
                  const HeadTensor& z, std::optional<double> scale, const std::stop_token& stop) {
  if (q.heads % k.heads != 0 || q.cols != k.cols || k.rows != v.rows || z.heads != q.heads ||
      z.rows != q.rows || z.cols != v.cols)
    return false;
  constexpr Index rows = 8;
  const auto gives = [&](bool causal) {
    for (const Index h : {Index{0}, q.heads - 1}) {
      const Index shared = h / (q.heads / k.heads);
      const Problem head = make_problem(q.read(h, stop), k.read(shared, stop), v.read(shared, stop),
                                        scale.value_or(0), causal);
      const Matrix own = z.read(h, stop);
      if (!std::ranges::all_of(spread_rows(q.rows, rows),
                               [&](Index i) { return gives_row(head, own, i); }))
        return false;
    }
    return true;
  };
  return gives(false) || (q.rows <= k.rows && gives(true));
}

}  // namespace fovea
