#include "analysis/gradients.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/metrics.h"
#include "analysis/rounding_budget.h"
#include "analysis/row_bands.h"
#include "analysis/wrong_rows.h"
#include "data/blocks.h"
#include "data/larger.h"
#include "data/number_text.h"

namespace fovea {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Numbers = Eigen::ArrayXd;

constexpr double unit_of_fp32 = 0x1p-24;

Rows in_double(MatrixView m) {
  Rows out(m.rows, m.cols);
  for (Index i = 0; i < m.rows; ++i)
    for (Index c = 0; c < m.cols; ++c) out(i, c) = static_cast<double>(m(i, c));
  return out;
}

Matrix in_float(const Rows& m) {
  Matrix out(m.rows(), m.cols());
  for (Index i = 0; i < m.rows(); ++i)
    for (Index c = 0; c < m.cols(); ++c) out(i, c) = static_cast<float>(m(i, c));
  return out;
}

/// Adds up bands of rows of P. Within a band, chunks of keys are shared out to threads.
class GradientSums {
 public:
  GradientSums(const Operator& op, MatrixView dz, ElementType type, const Backend& backend)
      : op_(op),
        head_(op.problem()),
        backend_(backend),
        q_(in_double(head_.q)),
        k_(in_double(head_.k)),
        v_(in_double(head_.v)),
        dz_(in_double(dz)),
        k_norms_(k_.rowwise().norm()),
        v_norms_(v_.rowwise().norm()),
        budget_of_z_(head_, type),
        unit_(unit_roundoff(type)),
        smallest_(type == ElementType::f16 ? 0x1p-25 : 0),
        sums_(2 * static_cast<double>(std::max(head_.queries(), head_.keys())) * unit_of_fp32) {}

  Gradients gradients(Run& run) {
    constexpr Index band = 64;
    Run quiet = run.quiet();  // progress counts rows
    for (Index begin = 0; begin < head_.queries(); begin += band) {
      run.check();
      add({begin, std::min(head_.queries(), begin + band)}, quiet);
      run.reached(static_cast<double>(begin) / static_cast<double>(head_.queries()));
    }
    return {finished(of_q_), finished(of_k_), finished(of_v_)};
  }

 private:
  struct Sum {
    Rows value;
    Numbers error;  // of each row, without that of rounding the result

    explicit Sum(const Rows& like)
        : value(Rows::Zero(like.rows(), like.cols())), error(Numbers::Zero(like.rows())) {}
  };

  Gradient finished(const Sum& sum) const {
    const Numbers budget = sum.error + unit_ * sum.value.rowwise().norm().array() +
                           smallest_ * std::sqrt(sum.value.cols());
    return {in_float(sum.value), {budget.begin(), budget.end()}};
  }

  void add(IndexRange rows, Run& run) {
    constexpr Index chunk = 1024;
    const Index keys = head_.keys(), chunks = number_of_blocks(keys, chunk);
    const Matrix tile = op_.tile(rows, {0, keys}, run);
    const Rows p = in_double(tile);
    const Rows dz = dz_.middleRows(rows.begin, rows.size()),
               q = q_.middleRows(rows.begin, rows.size());
    const Rows dp = dz * v_.transpose();
    const Numbers d = (p.array() * dp.array()).rowwise().sum();
    const Numbers dz_norms = dz.rowwise().norm();
    Numbers relative(rows.size());  // errors of P_ij and of dS_ij: 2 u + 4 delta_i + 2 nk 2^-24
    Numbers of_z(rows.size());      // B_i
    for (Index r = 0; r < rows.size(); ++r) {
      const double spread = (p.row(r).array().transpose() * v_norms_).sum();
      relative[r] = budget_of_z_.of_weights(rows.begin + r);
      of_z[r] = budget_of_z_(rows.begin + r, spread, (p.row(r) * v_).norm());
    }
    std::vector<Rows> parts_of_q(chunks);
    std::vector<Numbers> errors_of_q(chunks);
    backend_.share_out(chunks, run, [&](Index c) {
      const Index begin = c * chunk, size = std::min(chunk, keys - begin);
      const auto pc = p.middleCols(begin, size).array();
      const auto kc = k_.middleRows(begin, size);
      const Rows apart = dp.middleCols(begin, size).colwise() - d.matrix();
      Rows ds = (pc * apart.array()).matrix();
      Rows error = (pc * (apart.array().abs().colwise() * relative)).matrix();
      error.array() += pc * ((dz_norms * of_z).matrix() * Rows::Ones(1, size) +
                             static_cast<double>(head_.dv()) * unit_of_fp32 * dz_norms.matrix() *
                                 v_norms_.segment(begin, size).matrix().transpose())
                                .array();
      error.array() += sums_ * ds.array().abs() + smallest_;
      if (head_.rule && head_.rule->soft_cap > 0) {
        const double cap = head_.rule->soft_cap;
        const Rows x = head_.scale * (q * kc.transpose());
        const Rows slope = (1 - (x.array() / cap).tanh().square()).matrix();
        ds.array() *= slope.array();
        error.array() *= slope.array();
      }
      parts_of_q[c] = head_.scale * (ds * kc);
      errors_of_q[c] = head_.scale * (error * k_norms_.segment(begin, size).matrix()).array();
      of_k_.value.middleRows(begin, size) += head_.scale * (ds.transpose() * q);
      of_k_.error.segment(begin, size) +=
          head_.scale * (error.transpose() * q.rowwise().norm()).array();
      of_v_.value.middleRows(begin, size) += pc.matrix().transpose() * dz;
      of_v_.error.segment(begin, size) +=
          (pc.matrix().transpose() * (relative * dz_norms).matrix()).array() +
          smallest_ * dz_norms.sum();
    });
    for (Index c = 0; c < chunks; ++c) {
      of_q_.value.middleRows(rows.begin, rows.size()) += parts_of_q[c];
      of_q_.error.segment(rows.begin, rows.size()) += errors_of_q[c];
    }
  }

  const Operator& op_;
  const Problem& head_;
  const Backend& backend_;
  const Rows q_, k_, v_, dz_;
  const Numbers k_norms_, v_norms_;
  const RoundingBudget budget_of_z_;
  /// Relative error of rounding to the type, half the distance of its smallest numbers, and the
  /// relative error of a sum in fp32: u, s and 2 n 2^-24 of rounding_budget.h.
  const double unit_, smallest_, sums_;
  Sum of_q_{q_}, of_k_{k_}, of_v_{v_};
};

/// How a gradient of the file differs from ours.
struct Compared {
  double relative = 0;  // |theirs - ours| / |ours|
  double factor = 1;    // that makes |theirs - factor ours| smallest
  double apart = 0;     // |theirs - factor ours| / |theirs|
  std::vector<Index> beyond;
};

Compared compare(const Matrix& theirs, const Gradient& ours) {
  Compared out;
  double error = 0, norm = 0, product = 0, norm_of_theirs = 0;
  for (Index i = 0; i < theirs.rows(); ++i) {
    double of_row = 0;
    for (Index c = 0; c < theirs.cols(); ++c) {
      const double a = static_cast<double>(theirs(i, c)), b = static_cast<double>(ours.value(i, c));
      of_row += (a - b) * (a - b);
      norm += b * b;
      product += a * b;
      norm_of_theirs += a * a;
    }
    error += of_row;
    if (!(std::sqrt(of_row) <= ours.budget[i])) out.beyond.push_back(i);
  }
  out.relative = error == 0 ? 0 : std::sqrt(error) / std::sqrt(norm);
  out.factor = product / norm;
  out.apart = std::sqrt(std::max(0.0, norm_of_theirs - product * product / norm)) /
              std::sqrt(norm_of_theirs);
  return out;
}

std::string sentence_about(const std::string& name, const Compared& found, Index rows,
                           ElementType type, double scale) {
  constexpr double equal = 1e-2;  // beyond what rounding to 8 bits changes in a sum
  std::string text = name + " is not the gradient in " + place_text(found.beyond, rows) +
                     ": rounding to " + to_text(type) + " does not explain it";
  if (name != "dv" && found.apart < equal && std::abs(found.factor - 1) > equal) {
    text = name + " is " + format_number(found.factor, 3) + " times the gradient";
    if (std::abs(found.factor * scale - 1) < equal) text += ": the scale is left out";
    if (std::abs(found.factor - scale) < equal * scale) text += ": the scale counts twice";
  }
  return text;
}

bool is_finite(const Matrix& m) {
  for (Index i = 0; i < m.rows(); ++i)
    for (Index c = 0; c < m.cols(); ++c)
      if (!std::isfinite(m(i, c))) return false;
  return true;
}

/// Why the gradients are not compared; empty if they are.
std::string why_not_compared(const Problem& head) {
  const double entries = static_cast<double>(head.queries()) * static_cast<double>(head.keys());
  return head.recurrence               ? "the head is a recurrence"
         : entries > most_read_entries ? "they are compared for heads of up to 8192 tokens"
                                       : "";
}

}  // namespace

Gradients gradients_of(const Operator& op, MatrixView dz, ElementType type, const Backend& backend,
                       Run& run) {
  return GradientSums(op, dz, type, backend).gradients(run);
}

std::vector<Diagnostic> gradient_figures(const Diagnosis& of, Run& run) {
  const auto* plan = of.approximate.plan().as<ImportedPlan>();
  const Problem& head = of.exact.problem();
  if (!plan || !head.imported) return {};
  const GradientTensors& tensors = head.imported->named(plan->result->name).gradients;
  if (!tensors.present()) return {};
  std::vector<Diagnostic> figures;
  const auto finding = [&figures](std::string words) {
    figures.push_back(
        {.id = "finding", .label = "Finding", .meaning = "", .words = std::move(words)});
  };
  if (const std::string why_not = why_not_compared(head); !why_not.empty()) {
    finding("gradients are not compared: " + why_not);
    return figures;
  }
  const bool own_pairs = plan->kept || !plan->result->p.empty();
  const Operator& op = own_pairs ? of.approximate : of.exact;
  const Index at = head.imported->head;
  const Matrix dz = tensors.dz.read(at, run.stop);
  if (!is_finite(dz)) {
    finding("gradients are not compared: dz holds a number that is not finite");
    return figures;
  }
  const ElementType type = tensors.type();
  const Gradients ours = gradients_of(op, dz, type, of.backend, run);
  for (const auto& [name, tensor, gradient] : {std::tuple{"dq", &tensors.dq, &ours.q},
                                               {"dk", &tensors.dk, &ours.k},
                                               {"dv", &tensors.dv, &ours.v}}) {
    if (!tensor->present()) continue;
    if (tensor->heads < head.imported->heads) {
      finding(std::string(name) + " is not compared: it is the sum over the queries of " +
              plural(head.imported->heads / tensor->heads, "head"));
      continue;
    }
    const Compared found = compare(tensor->read(at, run.stop), *gradient);
    figures.push_back({.id = std::string(name) + "_rel_fro",
                       .label = std::string("Relative error of ") + name,
                       .value = found.relative,
                       .meaning = std::string("‖theirs − ") + name + "‖ over ‖" + name +
                                  "‖, where " + name +
                                  " is the gradient of the loss whose gradient by z the file "
                                  "holds, computed in double from P in fp32."});
    figures.push_back({.id = std::string(name) + "_rows_beyond_rounding",
                       .label = std::string("Rows of ") + name + " that rounding does not explain",
                       .value = static_cast<double>(found.beyond.size()),
                       .meaning = "Rows whose error is larger than rounding P, its gradient, z and "
                                  "results to " +
                                  to_text(type) + " can make it."});
    if (!found.beyond.empty()) finding(sentence_about(name, found, tensor->rows, type, head.scale));
  }
  return figures;
}

}  // namespace fovea
