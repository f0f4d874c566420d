// Gradients beside those of another program: against differences of the loss in double, and against
// kernels that round as FlashAttention does.
#include "analysis/gradients.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "analysis/imported_columns.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Sum of dz * Z in double, with one number of q, k or v changed.
double loss_of(const Problem& head, MatrixView dz) {
  double loss = 0;
  for (Index i = 0; i < head.queries(); ++i) {
    double sum = head.rule && head.rule->sink ? std::exp(*head.rule->sink) : 0, of_row = 0;
    for (Index j = 0; j < head.keys(); ++j) {
      if (!head.admits(i, j)) continue;
      const double weight = std::exp(head.logit(i, j));
      sum += weight;
      for (Index c = 0; c < head.dv(); ++c)
        of_row += weight * static_cast<double>(head.v(j, c)) * static_cast<double>(dz(i, c));
    }
    if (sum > 0) loss += of_row / sum;
  }
  return loss;
}

struct HeadToDifferentiate {
  std::string words;
  Problem head;
};

std::vector<HeadToDifferentiate> heads_to_differentiate() {
  std::vector<HeadToDifferentiate> out;
  for (const bool causal : {false, true})
    out.push_back(
        {"causal " + std::to_string(causal), make_data(Data::gaussian, 40, 6, 5, causal)});
  out.push_back({"fewer queries", make_problem(gaussian(20, 6, 1), gaussian(33, 6, 2),
                                               gaussian(33, 4, 3), 0.3, true)});
  HeadToDifferentiate window{"window", make_data(Data::gaussian, 40, 6, 5, true)};
  window.head.window = 9;
  out.push_back(window);
  HeadToDifferentiate rule{"soft cap, sink and bias", make_data(Data::gaussian, 40, 6, 5, true)};
  LogitRule its{.soft_cap = 1.5, .sink = 0.4};
  its.by_key.assign(40, 0.0f);
  for (std::size_t j = 0; j < 40; ++j) its.by_key[j] = 0.05f * static_cast<float>(j % 7);
  rule.head.rule = std::make_shared<const LogitRule>(std::move(its));
  out.push_back(rule);
  return out;
}

/// dQ, dK and dV as a kernel computes them: P, dS and results are rounded, D comes from a rounded
/// z.
struct Backward {
  Matrix dq, dk, dv;
};
Backward run_backward(const Problem& head, MatrixView dz, Rounding round) {
  const Kernel forward = run_kernel(head, to_fp32, everything);
  const Kernel rounded = run_kernel(head, round, everything);
  Backward out{Matrix(head.queries(), head.d()), Matrix(head.keys(), head.d()),
               Matrix(head.keys(), head.dv())};
  for (Index i = 0; i < head.queries(); ++i) {
    float d = 0;
    for (Index c = 0; c < head.dv(); ++c) d += dz(i, c) * rounded.z(i, c);
    for (Index j = 0; j < head.keys(); ++j) {
      const float p = forward.p(i, j);
      float dp = 0;
      for (Index c = 0; c < head.dv(); ++c) dp += dz(i, c) * head.v(j, c);
      const float ds = round(p * (dp - d));
      for (Index c = 0; c < head.d(); ++c) {
        out.dq(i, c) += static_cast<float>(head.scale) * ds * head.k(j, c);
        out.dk(j, c) += static_cast<float>(head.scale) * ds * head.q(i, c);
      }
      for (Index c = 0; c < head.dv(); ++c) out.dv(j, c) += round(p) * dz(i, c);
    }
  }
  for (Matrix* m : {&out.dq, &out.dk, &out.dv})
    for (Index i = 0; i < m->rows(); ++i)
      for (Index c = 0; c < m->cols(); ++c) (*m)(i, c) = round((*m)(i, c));
  return out;
}

std::vector<Index> rows_beyond(const Matrix& theirs, const Gradient& ours) {
  std::vector<Index> rows;
  for (Index i = 0; i < theirs.rows(); ++i) {
    double error = 0;
    for (Index c = 0; c < theirs.cols(); ++c)
      error +=
          std::pow(static_cast<double>(theirs(i, c)) - static_cast<double>(ours.value(i, c)), 2);
    if (!(std::sqrt(error) <= ours.budget[static_cast<std::size_t>(i)])) rows.push_back(i);
  }
  return rows;
}

Gradients gradients(const Instance& x, MatrixView dz, ElementType type) {
  Profile profile;
  Run run{profile};
  return gradients_of(*x.bound, dz, type, *backends().front(), run);
}

/// The figures of the gradients that stand beside a head.
std::vector<Diagnostic> figures_of(const Problem& beside) {
  const Instance imported = make_instance(*backends().front(), beside, "imported", {}),
                 exact = make_instance(*backends().front(), beside, "exact", {});
  Profile profile;
  Run run{profile};
  const Output a = imported.apply(beside.v), b = exact.apply(beside.v);
  return gradient_figures({*imported.bound, a, *exact.bound, b, *backends().front()}, run);
}

}  // namespace

TEST_CASE("gradients are the differences of the loss, under every condition of a head") {
  for (const HeadToDifferentiate& one : heads_to_differentiate()) {
    CAPTURE(one.words);
    Problem head = one.head;
    Matrix q = Matrix::copy_of(head.q), k = Matrix::copy_of(head.k), v = Matrix::copy_of(head.v);
    head.q = q, head.k = k, head.v = v;
    const Matrix dz = gaussian(head.queries(), head.dv(), 4);
    const Gradients found =
        gradients(make_instance(*backends().front(), head, "exact", {}), dz, ElementType::f32);
    const auto check = [&](Matrix& m, const Matrix& gradient) {
      for (Index at = 0; at < m.rows() * m.cols(); at += 7) {
        float& x = m(at / m.cols(), at % m.cols());
        const float before = x;
        constexpr float step = 0x1p-9f;  // exact in floats of these sizes
        x = before + step;
        const double above = loss_of(head, dz), upper = static_cast<double>(x);
        x = before - step;
        const double slope = (above - loss_of(head, dz)) / (upper - static_cast<double>(x));
        x = before;
        // The third derivative times step² / 6, and P in fp32.
        CHECK(static_cast<double>(gradient(at / m.cols(), at % m.cols())) ==
              doctest::Approx(slope).epsilon(2e-5).scale(1));
      }
    };
    check(q, found.q.value);
    check(k, found.k.value);
    check(v, found.v.value);
  }
}

TEST_CASE("rounding explains the gradients of a kernel that rounds, and no wrong row") {
  for (const bool causal : {false, true})
    for (const auto& [its_type, round] :
         {std::pair<ElementType, Rounding>{ElementType::f32, to_fp32},
          {ElementType::bf16, through_bf16},
          {ElementType::f16, through_fp16}}) {
      const ElementType type = its_type;  // which Clang 14 can capture
      CAPTURE(to_text(type));
      const Problem head = make_data(Data::gaussian, 64, 8, 8, causal);
      const Matrix dz = gaussian(64, 8, 4);
      const Gradients ours =
          gradients(make_instance(*backends().front(), head, "exact", {}), dz, type);
      Backward theirs = run_backward(head, dz, round);
      CHECK(rows_beyond(theirs.dq, ours.q).empty());
      CHECK(rows_beyond(theirs.dk, ours.k).empty());
      CHECK(rows_beyond(theirs.dv, ours.v).empty());
      for (Index c = 0; c < 8; ++c) theirs.dk(33, c) *= 1.5f;
      CHECK(rows_beyond(theirs.dk, ours.k) == std::vector<Index>{33});
    }
}

TEST_CASE("gradients are those over the pairs of the result, also if the file holds its weights") {
  const Problem head = make_data(Data::gaussian, 48, 8, 8, true);
  const auto near = [](Index i, Index j) { return i - j < 12; };
  Problem windowed = head;
  windowed.window = 12;
  const Matrix dz = gaussian(48, 8, 4);
  for (const bool with_weights : {false, true}) {
    Backward theirs = run_backward(windowed, dz, to_fp32);
    Kernel kernel = run_kernel(head, to_fp32, near);
    Matrix kept(48, 48);
    for (Index i = 0; i < 48; ++i)
      for (Index j = 0; j < 48; ++j) kept(i, j) = near(i, j) ? 1.0f : 0.0f;
    ImportedTensors result{.gradients = {.dz = tensor(Matrix::copy_of(dz)),
                                         .dq = tensor(std::move(theirs.dq)),
                                         .dk = tensor(std::move(theirs.dk)),
                                         .dv = tensor(std::move(theirs.dv))}};
    if (with_weights)
      result.p = tensor(std::move(kernel.p));
    else
      result.kept = {.mask = tensor(std::move(kept))};
    const Problem beside = with(head, std::move(result));
    CHECK(sentences_of(figures_of(beside)).empty());
  }
}

TEST_CASE("a file's gradients are figures, and sentences say what is wrong with them") {
  const Problem head = make_data(Data::gaussian, 64, 8, 8, true);
  const Matrix dz = gaussian(64, 8, 4);
  Backward theirs = run_backward(head, dz, to_fp32);
  for (Index i = 16; i < 32; ++i)
    for (Index c = 0; c < 8; ++c) theirs.dq(i, c) = 0;
  for (Index i = 0; i < 64; ++i)
    for (Index c = 0; c < 8; ++c) theirs.dk(i, c) /= static_cast<float>(head.scale);
  const Problem beside = with(head, {.gradients = {.dz = tensor(Matrix::copy_of(dz)),
                                                   .dq = tensor(std::move(theirs.dq)),
                                                   .dk = tensor(std::move(theirs.dk)),
                                                   .dv = tensor(std::move(theirs.dv))}});
  const std::vector<Diagnostic> figures = figures_of(beside);
  const auto value = [&](const std::string& id) {
    const auto at = std::ranges::find(figures, id, &Diagnostic::id);
    REQUIRE(at != figures.end());
    return at->value;
  };
  CHECK(value("dq_rows_beyond_rounding") == 16);
  CHECK(value("dk_rows_beyond_rounding") == 64);
  CHECK(value("dv_rows_beyond_rounding") == 0);
  CHECK(value("dv_rel_fro") < 1e-5);
  const std::vector<std::string> found = sentences_of(figures);
  REQUIRE(found.size() == 2);
  CHECK(found[0] == "dq is not the gradient in rows 16 to 31: rounding to F32 does not explain it");
  CHECK(found[1] == "dk is 2.83 times the gradient: the scale is left out");
  const auto plan = make_plan(*backends().front(), beside, "imported", {});
  CHECK(plan->notes.front() == "the file holds gradients alone: z is computed here");
}

TEST_CASE("a row of a file's gradient that is NaN is none that rounding explains") {
  const Problem head = make_data(Data::gaussian, 24, 8, 8, true);
  const Matrix dz = gaussian(24, 8, 4);
  Backward theirs = run_backward(head, dz, to_fp32);
  theirs.dv(7, 2) = std::numeric_limits<float>::quiet_NaN();
  const Problem beside = with(
      head, {.gradients = {.dz = tensor(Matrix::copy_of(dz)), .dv = tensor(std::move(theirs.dv))}});
  const std::vector<Diagnostic> figures = figures_of(beside);
  const auto beyond = std::ranges::find(figures, "dv_rows_beyond_rounding", &Diagnostic::id);
  REQUIRE(beyond != figures.end());
  CHECK(beyond->value == 1);
  CHECK(sentences_of(figures).size() == 1);
}
