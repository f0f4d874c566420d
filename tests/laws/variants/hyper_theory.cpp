#include "laws/variants/hyper_theory.h"

#include <set>

namespace fovea::test {
namespace {

// log of the sum of exponentials.
template <class Real>
Real log_sum(const std::vector<Real>& logs) {
  Real top = -std::numeric_limits<Real>::infinity(), sum = 0;
  for (const Real x : logs) top = std::max(top, x);
  for (const Real x : logs) sum += std::exp(x - top);
  return logs.empty() ? top : top + std::log(sum);
}

template <class Real>
RowSumSteps<Real> steps(const Instance& x) {
  const Structure& s = x.plan->structure;
  const Parameters parameters{x};
  const Index n = x.problem.n(), block = parameters.integer("block");
  const auto size = static_cast<std::size_t>(n);
  const auto eps = static_cast<Real>(parameters.real("epsilon")),
             kappa = static_cast<Real>(parameters.real("kappa"));
  RowSumSteps<Real> out{.logit = fine_logits<Real>(x.problem)};

  std::vector<Index> query_block(size), key_block(size);
  for (Index p = 0; p < n; ++p) {
    const auto at = static_cast<std::size_t>(p);
    query_block[static_cast<std::size_t>(s.integers("query_order")[at])] = p / block;
    key_block[static_cast<std::size_t>(s.integers("key_order")[at])] = p / block;
  }
  out.mask.assign(size, std::vector<bool>(size));
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) out.mask[i][j] = query_block[i] == key_block[j];
  const auto row_of = [&](Index i, bool in_mask) {
    std::vector<Real> logs;
    for (Index j = 0; j < n; ++j)
      if (out.mask[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] == in_mask)
        logs.push_back(out.logit(i, j));
    return logs;
  };

  std::vector<Real> outside;
  for (const std::int32_t row : s.integers("tau_rows"))
    outside.push_back(log_sum(row_of(row, false)));
  out.tau = *std::ranges::max_element(outside);
  const Real floor = out.tau - std::log(kappa);

  const auto& samples = s.integers("sampled_keys");
  const auto m = static_cast<Real>(samples.size()), tokens = static_cast<Real>(n);
  for (Index i = 0; i < n; ++i) {
    const auto& row = out.mask[static_cast<std::size_t>(i)];
    const Real inside = log_sum(row_of(i, true));
    const Real cap = std::log(eps * eps * m / (tokens * std::log(tokens))) +
                     log_sum(std::vector{inside, floor});  // line 6
    std::vector<Real> terms;
    for (const std::int32_t j : samples)
      if (!row[static_cast<std::size_t>(j)])
        terms.push_back(std::log(tokens / m) + std::min(out.logit(i, j), cap));
    for (const std::int32_t j : std::set(samples.begin(), samples.end()))
      if (!row[static_cast<std::size_t>(j)]) {
        ++out.sampled;
        out.capped += out.logit(i, j) > cap;
      }
    const Real sampled = log_sum(terms);  // line 7
    out.cap.push_back(cap);
    out.floored += sampled < floor;
    out.d.push_back(log_sum(std::vector{inside, std::max(sampled, floor)}));  // line 8
  }
  return out;
}

template <class Real>
Dense<Real> theory(const Instance& x) {
  const Index n = x.problem.n(), dv = x.problem.dv();
  const RowSumSteps<Real> rows = steps<Real>(x);
  std::vector<Real> squares(static_cast<std::size_t>(n));
  Real all = 0;
  for (Index j = 0; j < n; ++j)
    for (Index c = 0; c < dv; ++c) {
      const auto entry = static_cast<Real>(x.problem.v(j, c));
      squares[static_cast<std::size_t>(j)] += entry * entry;
      all += entry * entry;
    }
  const auto& drawn = x.plan->structure.integers("sampled_values");
  Dense<Real> p(n);
  for (const std::int32_t j : drawn) {
    const Real probability =
        all > 0 ? squares[static_cast<std::size_t>(j)] / all : 1 / static_cast<Real>(n);
    for (Index i = 0; i < n; ++i)
      p(i, j) += std::exp(rows.logit(i, j) - rows.d[static_cast<std::size_t>(i)]) /
                 (static_cast<Real>(drawn.size()) * probability);
  }
  return p;
}

}  // namespace

Dense<double> hyper_theory(double, const Instance& x) {
  return theory<double>(x);
}
Dense<float> hyper_theory(float, const Instance& x) {
  return theory<float>(x);
}
RowSumSteps<double> row_sum_steps(double, const Instance& x) {
  return steps<double>(x);
}

}  // namespace fovea::test
