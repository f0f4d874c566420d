// What another program computed, as a column: against the same formulas in double.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "analysis/cost.h"
#include "analysis/imported_columns.h"
#include "analysis/measures.h"
#include "analysis/support.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("imported weights are drawn and applied as they are") {
  for (const bool causal : {false, true}) {
    const Problem problem = make_data(Data::gaussian, 37, 8, 5, causal);
    const Kernel kernel = run_kernel(problem, through_bf16, everything);
    const Problem head = with(
        problem, {.z = tensor(Matrix::copy_of(kernel.z)), .p = tensor(Matrix::copy_of(kernel.p))});
    const Instance x = make_instance(*backends().front(), head, "imported", {});
    const Matrix p = x.all();
    float most = 0;
    for (Index i = 0; i < 37; ++i)
      for (Index j = 0; j < 37; ++j) {
        CHECK(p(i, j) == kernel.p(i, j));
        if (i >= 9 && i < 20 && j < 12) most = std::max(most, p(i, j));
      }
    CHECK(x.tile({9, 20}, {0, 12}, {Pool::Kind::max, 1, 1})(0, 0) == most);
    CHECK(larger_error(0, static_cast<double>(x.apply(problem.v).z(36, 4)) -
                              static_cast<double>(kernel.z(36, 4))) == 0);
    const Matrix other = gaussian(37, 3, 9);  // another V: P V
    const Matrix z = x.apply(other).z;
    for (Index i = 0; i < 37; ++i) {
      double sum = 0;
      for (Index j = 0; j < 37; ++j)
        sum += static_cast<double>(p(i, j)) * static_cast<double>(other(j, 2));
      CHECK(static_cast<double>(z(i, 2)) == doctest::Approx(sum).epsilon(1e-6));
    }
    // Pairs without weight do not count.
    double with_weight = 0;
    for (Index i = 0; i < 37; ++i)
      for (Index j = 0; j < 37; ++j) with_weight += p(i, j) != 0;
    CHECK(Support(*x.plan).pairs() == with_weight);
    CHECK(count_cost(*x.plan, 8, 5).pairs == with_weight);
    CHECK(count_cost(*x.plan, 8, 5).exact_multiply_adds ==
          (causal ? 37.0 * 38 / 2 : 37.0 * 37) * 13);
  }
}

// A file holds no sums, or those of its z: what its weights do not have is the sink's.
TEST_CASE("imported weights beside a sink: the sink has the rest of each row") {
  Problem problem = make_data(Data::gaussian, 20, 4, 3, true);
  problem.rule = std::make_shared<const LogitRule>(LogitRule{.sink = 0.5});
  const Matrix p = make_instance(*backends().front(), problem, "exact", {}).all();
  Matrix half = Matrix::copy_of(p);
  double variation = 0;
  for (Index i = 0; i < 20; ++i) {
    double sum = 0;
    for (Index j = 0; j < 20; ++j) {
      half(i, j) /= 2;
      sum += static_cast<double>(p(i, j));
    }
    variation += sum / 2 / 20;  // half of it moves to the sink
  }
  const std::vector<float> other_sums(20, 7.0f);
  for (const bool with_sums : {false, true}) {
    ImportedTensors result{.p = tensor(Matrix::copy_of(half))};
    if (with_sums) result.lse = tensor(column_of(other_sums));
    const AgainstExact x(with(problem, result));
    CHECK(x.metrics.attention_tv.value == doctest::Approx(variation).epsilon(1e-5));
    CHECK(std::isfinite(x.metrics.attention_kl.value));
  }
}

TEST_CASE("products below the normal numbers of fp32 are explained by rounding") {
  Problem problem = make_data(Data::gaussian, 40, 4, 3, false);
  Matrix tiny = Matrix::copy_of(problem.v);
  for (Index j = 0; j < 40; ++j)
    for (Index c = 0; c < 3; ++c) tiny(j, c) *= 1e-43f;
  problem = make_problem(Matrix::copy_of(problem.q), Matrix::copy_of(problem.k), std::move(tiny),
                         problem.scale);
  const auto unrounded = [](float x) { return x; };
  const AgainstExact x(with(problem, {.z = tensor(run_kernel(problem, unrounded, everything).z)}));
  CHECK(x.figure("rows_beyond_rounding") == 0);
  CHECK(x.figure("largest_share_of_rounding") <= 1);
}

TEST_CASE("the pairs that a kernel keeps are the mask, and softmax over them its weights") {
  const Problem problem = make_data(Data::gaussian, 40, 8, 6, true);
  const auto keeps = [](Index i, Index j) { return (i / 8 + j / 8) % 2 == 0; };
  const Kernel kernel = run_kernel(problem, to_fp32, keeps);
  Matrix kept(5, 5);
  for (Index r = 0; r < 5; ++r)
    for (Index c = 0; c < 5; ++c) kept(r, c) = (r + c) % 2 == 0 ? 1.0f : 0.0f;
  const AgainstExact compared(
      with(problem, {.z = tensor(Matrix::copy_of(kernel.z)),
                     .kept = {.block = {8, 8}, .mask = tensor(std::move(kept))}}));
  const Matrix p = compared.imported.all(), exact = compared.exact.all();
  double pairs = 0, mass = 0;
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 40; ++j) {
      CHECK(std::abs(static_cast<double>(p(i, j)) - static_cast<double>(kernel.p(i, j))) < 2e-6);
      if (!problem.admits(i, j) || !keeps(i, j)) continue;
      ++pairs;
      mass += static_cast<double>(exact(i, j));
    }
  CHECK(compared.metrics.density == doctest::Approx(pairs / 1600));
  CHECK(compared.metrics.mass_kept.value == doctest::Approx(mass / 40).epsilon(1e-5));
}

TEST_CASE("of z alone errors of the output are known, and nothing of weights is told") {
  const Problem problem = make_data(Data::gaussian, 24, 8, 6, false);
  Kernel kernel = run_kernel(problem, to_fp32, everything);
  const AgainstExact compared(with(problem, {.z = tensor(std::move(kernel.z))}));
  CHECK(compared.metrics.output_rel_fro < 1e-6);
  CHECK_FALSE(compared.metrics.of_attention());
  for (const Measure& measure : measures()) {
    CAPTURE(measure.id);
    const bool of_output = measure.id.starts_with("output") || measure.id.starts_with("row");
    CHECK(measure.of({.metrics = &compared.metrics}).has_value() == of_output);
  }
  CHECK(contains(message_of<UsageError>([&] { (void)compared.imported.all(); }), "z alone"));
  const Matrix other = gaussian(24, 6, 3);
  CHECK(contains(message_of<UsageError>([&] { (void)compared.imported.apply(other); }), "z alone"));
}

TEST_CASE("rounding explains what rounding does, for every type, and not much more") {
  struct Type {
    Rounding round;
    ElementType type;
  };
  for (const Type& t : {Type{through_bf16, ElementType::bf16}, Type{through_fp16, ElementType::f16},
                        Type{to_fp32, ElementType::f32}})
    for (std::uint64_t seed = 1; seed <= 8; ++seed)
      for (const Data data : {Data::gaussian, Data::huge, Data::spike}) {
        const Problem problem = make_data(data, 50, 16, 8, seed % 2 == 0, 0, seed);
        const Kernel kernel = run_kernel(problem, t.round, everything);
        const Instance exact = make_instance(*backends().front(), problem, "exact", {});
        Profile profile;
        Run run{profile};
        const Output out = exact.apply(problem.v);
        const std::vector<float> budget = rounding_budget(*exact.bound, out, t.type, run);
        double largest = 0;
        for (Index i = 0; i < 50; ++i) {
          double error = 0;
          for (Index c = 0; c < 8; ++c) {
            const double apart =
                static_cast<double>(kernel.z(i, c)) - static_cast<double>(out.z(i, c));
            error += apart * apart;
          }
          const double share =
              std::sqrt(error) / static_cast<double>(budget[static_cast<std::size_t>(i)]);
          CHECK(share <= 1);
          largest = std::max(largest, share);
        }
        // A bound for the worst case; of sixteen bits it is within a small factor of what happens.
        if (t.type != ElementType::f32 && data == Data::gaussian) CHECK(largest > 0.05);
      }
}

TEST_CASE("a tile that a kernel skips is beyond rounding in its rows alone, and in its row sums") {
  const Problem problem = make_data(Data::gaussian, 64, 8, 6, false);
  const auto keeps = [](Index i, Index j) { return i < 32 || i >= 48 || j >= 16; };
  Kernel kernel = run_kernel(problem, through_bf16, keeps);
  const double lse = [&] {
    const Kernel whole = run_kernel(problem, to_fp32, everything);
    double most = 0;
    for (std::size_t i = 0; i < 64; ++i)
      most = std::max(most, std::abs(static_cast<double>(whole.lse[i] - kernel.lse[i])));
    return most;
  }();
  const AgainstExact compared(
      with(problem, {.z = tensor(std::move(kernel.z)), .lse = tensor(column_of(kernel.lse))}));
  // The numbers are stored in fp32 here: rounding to bf16 is beyond what fp32 explains everywhere.
  CHECK(compared.figure("rows_beyond_rounding") == 64);
  CHECK(compared.figure("lse_max_abs") == doctest::Approx(lse).epsilon(1e-3));
  Profile profile;
  Run run{profile};
  const Output exact = compared.exact.apply(problem.v), own = compared.imported.apply(problem.v);
  const std::vector<float> budget =
      rounding_budget(*compared.exact.bound, exact, ElementType::bf16, run);
  Index beyond = 0;
  for (Index i = 0; i < 64; ++i) {
    double error = 0;
    for (Index c = 0; c < 6; ++c)
      error += std::pow(static_cast<double>(own.z(i, c)) - static_cast<double>(exact.z(i, c)), 2);
    const bool explained =
        std::sqrt(error) <= static_cast<double>(budget[static_cast<std::size_t>(i)]);
    CHECK((explained || (i >= 32 && i < 48)));
    beyond += !explained;
  }
  CHECK(beyond == 16);
}

TEST_CASE("runs of one input: the same bits, another order of sums, or a race") {
  const Problem problem = make_data(Data::gaussian, 64, 8, 6, true);
  const Matrix first = run_kernel(problem, to_fp32, everything).z;
  const auto sentence_of = [](const AgainstExact& x) {
    for (const Diagnostic& figure : x.figures)
      if (figure.words.starts_with("3 runs")) return figure.words;
    return std::string();
  };
  const auto compared = [&](const Matrix& second, const Matrix& third) {
    ImportedTensors result{.z = tensor(Matrix::copy_of(first))};
    result.z_runs = {tensor(Matrix::copy_of(second)), tensor(Matrix::copy_of(third))};
    return AgainstExact(with(problem, result));
  };
  const AgainstExact same = compared(first, first);
  CHECK(same.figure("runs") == 3);
  CHECK(same.figure("rows_that_differ") == 0);
  CHECK(same.figure("spread_of_runs") == 0);
  CHECK(sentence_of(same) == "3 runs of one input give the same bits");
  // Rounding of one number the other way, in a row of each of the other runs.
  Matrix second = Matrix::copy_of(first), third = Matrix::copy_of(first);
  second(5, 2) = std::nextafter(first(5, 2), 9.0f);
  third(9, 1) = std::nextafter(first(9, 1), -9.0f);
  const AgainstExact rounded = compared(second, third);
  CHECK(rounded.figure("rows_that_differ") == 2);
  CHECK(rounded.figure("rows_that_differ_beyond_rounding") == 0);
  double norm = 0;
  for (Index i = 0; i < 64; ++i)
    for (Index c = 0; c < 6; ++c) norm += std::pow(double{first(i, c)}, 2);
  const double apart = std::max(std::abs(double{second(5, 2)} - double{first(5, 2)}),
                                std::abs(double{third(9, 1)} - double{first(9, 1)}));
  CHECK(rounded.figure("spread_of_runs") == doctest::Approx(apart / std::sqrt(norm)));
  CHECK(sentence_of(rounded).find("2 of 64 rows") != std::string::npos);
  CHECK(sentence_of(rounded).find("another order") != std::string::npos);
  CHECK(sentence_of(rounded).find("by no more than another order") != std::string::npos);
  // Noise of 2^-17 in each number is less than the bound of rounding allows, of which the share of
  // 64 keys and of large logits is large, but more than rounding does.
  Matrix noisy = Matrix::copy_of(first);
  for (Index i = 0; i < 64; ++i)
    for (Index c = 0; c < 6; ++c) noisy(i, c) += (i + c) % 2 == 0 ? 0x1p-17f : -0x1p-17f;
  const AgainstExact noise = compared(noisy, first);
  CHECK(noise.figure("rows_that_differ_beyond_rounding") == 0);
  CHECK(sentence_of(noise).find("look for another reason, too") != std::string::npos);
  // The third run misses a tile in the last rows, and is NaN in one.
  for (Index i = 48; i < 64; ++i) third(i, 0) += 1;
  third(63, 3) = NAN;
  const AgainstExact race = compared(second, third);
  CHECK(race.figure("rows_that_differ") == 18);
  CHECK(race.figure("rows_that_differ_beyond_rounding") == 16);
  CHECK(sentence_of(race) ==
        "3 runs of one input differ by more than rounding explains in rows 48 to 63, the last 16: "
        "no order of sums does that, but a race, memory that is read before it is written, or "
        "random numbers do");
  CHECK(std::isnan(race.figure("spread_of_runs")));
  // Runs of a coarser type than z differ from it by their own rounding.
  ImportedTensors of_types{.z = tensor(Matrix::copy_of(first))};
  of_types.z_runs = {tensor_of_bf16(first), tensor_of_bf16(first)};
  const AgainstExact types(with(problem, of_types));
  CHECK(types.figure("rows_that_differ") == 64);
  CHECK(types.figure("rows_that_differ_beyond_rounding") == 0);
  // Zeros of both signs are different bits.
  Matrix zero = Matrix::copy_of(first), negative = Matrix::copy_of(first);
  negative(0, 0) = -0.0f;
  zero(0, 0) = 0.0f;
  CHECK(compared(zero, negative).figure("rows_that_differ") == 1);
}

TEST_CASE("a row of NaN is none that rounding explains") {
  const Problem problem = make_data(Data::gaussian, 24, 8, 6, false);
  Kernel kernel = run_kernel(problem, to_fp32, everything);
  kernel.z(7, 2) = std::numeric_limits<float>::quiet_NaN();
  const AgainstExact compared(with(problem, {.z = tensor(std::move(kernel.z))}));
  CHECK(compared.figure("rows_beyond_rounding") == 1);
  CHECK(compared.figure("largest_share_of_rounding") == std::numeric_limits<double>::infinity());
}

TEST_CASE("what is not there is refused with what there is") {
  const Problem problem = make_data(Data::gaussian, 12, 4, 3, false);
  CHECK(contains(message_of<UsageError>(
                     [&] { (void)make_instance(*backends().front(), problem, "imported", {}); }),
                 "no z, p, gradients, mask or list of pairs beside q, k and v"));
  Kernel kernel = run_kernel(problem, to_fp32, everything);
  const Problem head = with(problem, {.name = "flash", .z = tensor(std::move(kernel.z))});
  CHECK(contains(message_of<UsageError>([&] {
                   (void)make_instance(*backends().front(), head, "imported", {{"result", "x"}});
                 }),
                 "result is 'x'; the file holds 'flash'"));
}
