// The self-test finds each mistake of a back end that is otherwise right.
#include "session/self_test.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "backend/backends.h"
#include "backend/stage_names.h"
#include "harness.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Mistakes {
  std::function<void(Output&, const Problem&)> in_output = [](Output&, const Problem&) {};
  std::function<void(Matrix&)> in_entries = [](Matrix&) {};
  std::function<void(RowsOutput&)> in_rows = [](RowsOutput&) {};
  bool in_hashing = false, in_sorting = false, in_routing = false, in_spectra = false,
       in_learning = false, times_out = false;
};

class MistakenOperator : public Operator {
 public:
  MistakenOperator(std::unique_ptr<Operator> right, const Mistakes& mistakes)
      : Operator(right->shared_plan(), right->problem()),
        right_(std::move(right)),
        mistakes_(mistakes) {}

 private:
  Output do_apply(MatrixView v, Run& run) const override {
    Output output = right_->apply(v, run);
    mistakes_.in_output(output, problem());
    if (mistakes_.times_out) run.profile.add(wgmma_timed_out, 0);
    return output;
  }
  bool do_has_rows() const override { return right_->has_rows(); }
  RowsOutput do_apply_rows(MatrixView v, IndexRange rows, Index pixel, Run& run) const override {
    RowsOutput output = right_->apply_rows(v, rows, pixel, run);
    mistakes_.in_rows(output);
    return output;
  }
  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    Matrix entries = right_->tile(rows, cols, pool, run);
    mistakes_.in_entries(entries);
    return entries;
  }

  std::unique_ptr<Operator> right_;
  const Mistakes& mistakes_;
};

class MistakenBackend : public Backend {
 public:
  explicit MistakenBackend(Mistakes mistakes, std::string precision = "fp32")
      : mistakes_(std::move(mistakes)), precision_(std::move(precision)) {}

  std::string id() const override { return "mistaken"; }
  std::string device() const override { return right_->device(); }
  std::string precision() const override { return precision_; }
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    return std::make_unique<MistakenOperator>(right_->bind(std::move(plan), problem, run),
                                              mistakes_);
  }
  std::vector<std::int32_t> lsh_buckets(MatrixView x, MatrixView directions,
                                        Run& run) const override {
    auto found = right_->lsh_buckets(x, directions, run);
    if (mistakes_.in_hashing) found.back() ^= 1;
    return found;
  }
  std::vector<std::int32_t> route(MatrixView x, const Tree& tree, Run& run) const override {
    auto found = right_->route(x, tree, run);
    if (mistakes_.in_routing) found.front() ^= 1;
    return found;
  }
  Matrix product(MatrixView a, MatrixView b, Run& run) const override {
    return right_->product(a, b, run);
  }
  std::vector<std::int32_t> stable_order(std::span<const std::int32_t> keys, std::int32_t count,
                                         Run& run) const override {
    auto found = right_->stable_order(keys, count, run);
    if (mistakes_.in_sorting) std::swap(found[0], found[1]);
    return found;
  }
  Spectra singular_values(std::span<const MatrixView> blocks, Run& run) const override {
    Spectra found = right_->singular_values(blocks, run);
    if (mistakes_.in_spectra) found.values.back().back() += 1e-3f;
    return found;
  }
  std::optional<MembershipGradient> leaf_loss(const TokenBatch& batch, Run& run) const override {
    auto found = right_->leaf_loss(batch, run);
    if (found && mistakes_.in_learning) found->keys(0, 0) *= 1.5f;
    return found;
  }

 private:
  std::unique_ptr<Backend> right_ = make_cpu_backend();
  Mistakes mistakes_;
  std::string precision_;
};

std::string finding(const Mistakes& mistakes, const std::string& precision = "fp32") {
  const MistakenBackend tested(mistakes, precision);
  const auto trusted = make_cpu_backend({.threads = 1, .isa = "sse2"});
  Profile profile;
  Run run{profile};
  return self_test(tested, *trusted, run);
}

}  // namespace

TEST_CASE("the self-test agrees with a back end of other instructions and as many threads") {
  CHECK(finding({}) == "");
}

TEST_CASE("the self-test finds a lost device and products of warpgroups that timed out") {
  CHECK(finding({.in_output = [](Output&, const Problem&) {
          throw DeviceLostError("the GPU is lost");
        }}) == "Exact, n = 500, d = 64: the GPU is lost");
  CHECK(finding({.times_out = true}) ==
        "Exact, n = 500, d = 64: products of warpgroups timed out, and products of warps "
        "replaced them.");
}

TEST_CASE("the self-test finds a row that was left out in every precision") {
  Mistakes last_row{.in_output = [](Output& output, const Problem&) {
    for (Index c = 0; c < output.z.cols(); ++c) output.z(output.z.rows() - 1, c) = 0;
  }};
  for (const char* precision : {"fp32", "fp16", "bf16"}) {
    const std::string found = finding(last_row, precision);
    CHECK_MESSAGE(contains(found, "outputs are off by"), found);
    CHECK_MESSAGE(contains(found, "rounding explains"), found);
  }
  Mistakes not_written{.in_output = [](Output& output, const Problem&) {
    output.z(0, 0) = std::numeric_limits<float>::quiet_NaN();
  }};
  CHECK(contains(finding(not_written, "bf16"), "outputs are off by"));
}

TEST_CASE("the self-test finds what only some heads have wrong, and says which") {
  const auto only = [](std::function<bool(const Problem&)> wrong) {
    return finding({.in_output = [wrong](Output& output, const Problem& problem) {
      if (wrong(problem)) output.z(output.z.rows() / 2, 0) += 0.05f;
    }});
  };
  CHECK(contains(only([](const Problem& p) { return p.causal; }), ", causal"));
  CHECK(contains(only([](const Problem& p) { return p.mask != nullptr; }), "sliding window"));
  CHECK(contains(only([](const Problem& p) { return p.dv() > 64; }), "values 256"));
  for (const Index queries : {40000, 10000, 4000, 3333, 1666}) {
    CAPTURE(queries);
    CHECK(contains(only([queries](const Problem& p) { return p.queries() == queries; }),
                   std::to_string(queries)));
  }
}

TEST_CASE("the self-test finds mistakes in sums and entries and maps") {
  CHECK(contains(finding({.in_output =
                              [](Output& output, const Problem&) {
                                if (!output.lse.empty()) output.lse.back() += 0.01f;
                              }}),
                 "log-sum-exp is off by"));
  CHECK(contains(finding({.in_entries = [](Matrix& entries) { entries(0, 0) += 1e-3f; }}),
                 "entries are off by"));
  CHECK(contains(finding({.in_rows = [](RowsOutput& rows) { rows.most(0, 0) += 1e-3f; }}),
                 "maps of maxima are off by"));
  CHECK(contains(finding({.in_rows = [](RowsOutput& rows) { rows.mean(0, 0) += 1e-3f; }}),
                 "maps of means are off by"));
}

TEST_CASE("the self-test takes NaN for a mistake wherever one number is NaN") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto first_and_last = [](Matrix& m, bool last) -> float& {
    return last ? m(m.rows() - 1, m.cols() - 1) : m(0, 0);
  };
  for (const bool last : {false, true}) {
    CAPTURE(last);
    CHECK(contains(
        finding({.in_output = [&](Output& output,
                                  const Problem&) { first_and_last(output.z, last) = nan; }}),
        "outputs are off by"));
    CHECK(contains(finding({.in_output =
                                [&](Output& output, const Problem&) {
                                  if (output.lse.empty()) return;
                                  (last ? output.lse.back() : output.lse.front()) = nan;
                                }}),
                   "log-sum-exp is off by"));
    CHECK(contains(
        finding({.in_entries = [&](Matrix& entries) { first_and_last(entries, last) = nan; }}),
        "entries are off by"));
    CHECK(contains(
        finding({.in_rows = [&](RowsOutput& rows) { first_and_last(rows.most, last) = nan; }}),
        "maps of maxima are off by"));
    CHECK(contains(
        finding({.in_rows = [&](RowsOutput& rows) { first_and_last(rows.mean, last) = nan; }}),
        "maps of means are off by"));
  }
}

TEST_CASE("the self-test finds mistakes in the steps of planning and in singular values") {
  CHECK(contains(finding({.in_hashing = true}), "Hash buckets"));
  CHECK(contains(finding({.in_sorting = true}), "Sorted positions"));
  CHECK(contains(finding({.in_routing = true}), "Leaves"));
  CHECK(contains(finding({.in_spectra = true}), "Singular values"));
}

TEST_CASE("the self-test names each head and step before it is tested") {
  const auto cpu = make_cpu_backend();
  Profile profile;
  Run run{profile};
  std::vector<std::string> heads;
  const auto note = [&](const std::string& head) { heads.push_back(head); };
  CHECK(self_test(*cpu, *cpu, run, {.tokens = 30, .many_queries = 0}, note) == "");
  REQUIRE(heads.size() > 8);
  CHECK(heads[0] == "Planning");
  CHECK(heads[1] == "Exact, n = 30, d = 64");
  CHECK(heads.back() == "A step of learning");
}

TEST_CASE("the self-test ends when it is stopped") {
  const auto cpu = make_cpu_backend();
  std::stop_source stop;
  stop.request_stop();
  Profile profile;
  Run run{profile, stop.get_token()};
  CHECK_THROWS_AS(self_test(*cpu, *cpu, run), Cancelled);
}
