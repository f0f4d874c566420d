#include "analysis/recognition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <utility>

#include "analysis/kept_softmax.h"
#include "analysis/other_heads.h"
#include "analysis/rounding_budget.h"
#include "analysis/wrong_rows.h"
#include "data/attended_row.h"
#include "data/error.h"
#include "data/number_text.h"

namespace fovea {
namespace {

double norm_of(const std::vector<double>& row) {
  double sum = 0;
  for (const double x : row) sum += x * x;
  return std::sqrt(sum);
}

double distance(const std::vector<double>& a, const float* b) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    const double apart = a[c] - static_cast<double>(b[c]);
    sum += apart * apart;
  }
  return std::sqrt(sum);
}

std::unique_ptr<Operator> bind_exact(const Problem& head, const Backend& backend, Run& run) {
  return bind_softmax(head, {.tiles = {{{0, head.queries()}, {0, head.keys()}, head.band()}}},
                      backend, run);
}

/// Looks at one result of one head.
class Recogniser {
 public:
  Recogniser(const Diagnosis& of, const ImportedPlan& plan, Run& run)
      : of_(of),
        result_(*plan.result),
        head_(of.exact.problem()),
        tensors_(head_.imported->named(result_.name)),
        run_(run),
        kept_(kept_softmax(of, run)) {
    if (kept_) own_words_ = "what the kept pairs give";
  }

  std::vector<std::string> sentences() {
    if (!result_.z.empty() && head_.has_values()) {
      if (result_.p.empty() || kept_)
        hold_z_against_own();
      else
        hold_z_against_p();
    }
    if (!result_.lse.empty()) hold_lse();
    return std::move(sentences_);
  }

 private:
  std::string type() const { return to_text(result_.type); }

  const Operator& own() const { return kept_ ? *kept_->op : of_.exact; }
  const Output& own_output() const { return kept_ ? kept_->output : of_.exact_output; }

  /// Rows of z that rounding does not explain if z is what an operator gives; rows without keys may
  /// hold anything.
  std::vector<Index> wrong_rows(const Operator& op, const Output& output) {
    const std::vector<float> budget = rounding_budget(op, output, result_.type, run_);
    std::vector<Index> wrong;
    for (Index i = 0; i < result_.z.rows(); ++i) {
      if (!output.lse.empty() && output.lse[i] == -HUGE_VALF) continue;
      double error = 0;
      for (Index c = 0; c < result_.z.cols(); ++c) {
        const double apart =
            static_cast<double>(result_.z(i, c)) - static_cast<double>(output.z(i, c));
        error += apart * apart;
      }
      if (!(std::sqrt(error) <= static_cast<double>(budget[i]))) wrong.push_back(i);
    }
    return wrong;
  }

  /// Whether z is exact attention of a head: first in some rows, which tells most heads apart.
  bool equals(const Problem& head) {
    constexpr Index some = 24;
    const RoundingBudget budget(head, result_.type);
    bool any = false;
    for (const Index i : spread_rows(result_.z.rows(), some)) {
      run_.check();
      const AttendedRow row = attend(head, i);
      if (!row.any) continue;
      any = true;
      if (!(distance(row.z, result_.z.row(i)) <= budget(i, row.spread, norm_of(row.z))))
        return false;
    }
    if (!any) return false;
    const auto op = bind_exact(head, of_.backend, run_);
    return wrong_rows(*op, op->apply(head.v, run_)).empty();
  }

  void hold_z_against_own() {
    const std::vector<Index> wrong = wrong_rows(own(), own_output());
    if (wrong.empty()) {
      if (kept_) sentences_.push_back("z is " + own_words_ + ", up to rounding to " + type());
      return;
    }
    const std::optional<std::string> found = what_z_equals(wrong);
    sentences_.push_back("z is not " + own_words_ + ", in " + place_text(wrong, result_.z.rows()) +
                         (found ? "; it equals " + *found + ", up to rounding to " + type()
                                : ": rounding to " + type() + " does not explain it"));
  }

  /// The one mistake that is known of a recurrence.
  std::optional<std::string> without_erasing() {
    if (!head_.recurrence->erases) return {};
    Recurrence linear = head_.recurrence->prefix(head_.n());
    linear.erases = false;
    const auto op = of_.backend.bind(
        std::make_shared<const Plan>(
            Plan{.lengths = head_.lengths(),
                 .causal = true,
                 .form = RecurrentPlan{std::make_shared<const Recurrence>(std::move(linear))}}),
        head_, run_);
    if (!wrong_rows(*op, op->apply(head_.v, run_)).empty()) return {};
    return "the recurrence without what the delta rule erases";
  }

  std::optional<std::string> what_z_equals(const std::vector<Index>& wrong) {
    if (head_.recurrence) return without_erasing();
    try {
      return first_of_other_heads(
          head_, tensors_, result_, wrong, [this](const Problem& head) { return equals(head); },
          run_);
    } catch (const UnavailableError&) {  // a mask of all pairs does not fit into memory
      return {};
    }
  }

  void hold_z_against_p() {
    double error = 0, norm = 0;
    std::vector<Index> wrong;
    const double u = unit_roundoff(result_.type), of_p = unit_roundoff(tensors_.p.type),
                 sums = static_cast<double>(head_.keys()) * 0x1p-23;
    for (Index i = 0; i < result_.z.rows(); ++i) {
      run_.check();
      std::vector<double> z(head_.dv());
      double spread = 0;
      for (Index j = 0; j < head_.keys(); ++j) {
        const auto p = static_cast<double>(result_.p(i, j));
        if (p == 0) continue;
        double square = 0;
        for (Index c = 0; c < head_.dv(); ++c) {
          const auto v = static_cast<double>(head_.v(j, c));
          z[c] += p * v;
          square += v * v;
        }
        spread += std::abs(p) * std::sqrt(square);
      }
      const double apart = distance(z, result_.z.row(i));
      if (!(apart <= (2 * u + of_p + sums) * spread + u * norm_of(z))) wrong.push_back(i);
      error += apart * apart;
      for (Index c = 0; c < head_.dv(); ++c)
        norm += static_cast<double>(result_.z(i, c)) * static_cast<double>(result_.z(i, c));
    }
    if (wrong.empty())
      sentences_.push_back("z is P V of the given p, up to rounding to " + type());
    else
      sentences_.push_back("z is not P V of the given p: ‖P V − z‖ / ‖z‖ is " +
                           format_number(std::sqrt(error / norm), 3) + ", in " +
                           place_text(wrong, result_.z.rows()));
  }

  /// Whether every row of lse is `factor` times ours, up to the rounding of 16-bit logits.
  static bool is_lse(const std::vector<float>& theirs, const std::vector<double>& ours,
                     double factor) {
    bool any = false;
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      if (!std::isfinite(ours[i])) continue;
      any = true;
      const double apart = std::abs(static_cast<double>(theirs[i]) - factor * ours[i]);
      if (!(apart <= 1e-3 + 4e-3 * std::abs(factor * ours[i]))) return false;
    }
    return any;
  }

  void hold_lse() {
    std::vector<double> ours(own_output().lse.begin(), own_output().lse.end());
    if (ours.empty() || is_lse(result_.lse, ours, 1)) return;
    constexpr double base_2 = 1 / std::numbers::ln2;
    if (is_lse(result_.lse, ours, base_2)) {
      sentences_.push_back("lse is in base 2: 1.4427 times the natural logarithm");
      return;
    }
    if (!head_.rule || !head_.rule->sink) return;
    for (double& sum : ours) sum += std::log1p(-std::exp(std::min(0.0, *head_.rule->sink - sum)));
    if (is_lse(result_.lse, ours, 1)) sentences_.push_back("lse leaves out the sink");
  }

  const Diagnosis& of_;
  const ImportedResult& result_;
  const Problem& head_;
  const ImportedTensors& tensors_;
  Run& run_;
  std::string own_words_ =
      head_.recurrence ? "what the recurrence gives" : "exact attention of this head";
  std::optional<KeptSoftmax> kept_;  // nothing if the file does not say what is kept
  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<std::string> recognise(const Diagnosis& of, Run& run) {
  const Plan& plan = of.approximate.plan();
  const auto* imported = plan.as<ImportedPlan>();
  if (!imported || !is_read(plan) || !of.exact.problem().imported) return {};
  return Recogniser(of, *imported, run).sentences();
}

}  // namespace fovea
