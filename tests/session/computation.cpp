// What a computation measures: `repeats` runs after one that warms up.
#include "session/computation.h"

#include <doctest/doctest.h>

#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// Takes as long as it likes to say: a thousand milliseconds the first time, then 1, 2, 3, ...
class Counting final : public Operator {
 public:
  explicit Counting(const Instance& of) : Operator(of.plan, of.problem) {}
  int runs() const { return runs_; }

 private:
  Output do_apply(MatrixView v, Run& run) const override {
    run.profile.add("attend", runs_ == 0 ? 1000 : runs_);
    ++runs_;
    return {Matrix::copy_of(v), {}};
  }
  Matrix do_tile(IndexRange rows, IndexRange cols, Pool, Run&) const override {
    return {rows.size(), cols.size()};
  }
  mutable int runs_ = 0;
};

}  // namespace

TEST_CASE("a computation has as many samples as repeats, and the warm-up is none of them") {
  const Instance instance =
      make_instance(*backends().front(), make_data(Data::gaussian, 8, 2, 2, false), "exact", {});
  for (const int repeats : {1, 4, 5, 9}) {
    CAPTURE(repeats);
    const auto op = std::make_shared<Counting>(instance);
    Computation computation{.op = op};
    Profile profile;
    Run run{profile};
    apply(computation, repeats, run);
    CHECK(op->runs() == repeats + 1);
    const Timing& timing = computation.timing;
    CHECK(timing.apply_total.samples == repeats);
    REQUIRE(timing.apply.size() == 1);
    CHECK(timing.apply[0].samples == repeats);
    CHECK(timing.apply_total.median_ms == doctest::Approx((1 + repeats) / 2.0));
    CHECK(timing.apply_total.p90_ms <= repeats);
    CHECK(timing.few_samples == (repeats < 5));
  }
}

TEST_CASE("a computation without repeats measures the only run there is") {
  const Instance instance =
      make_instance(*backends().front(), make_data(Data::gaussian, 8, 2, 2, false), "exact", {});
  const auto op = std::make_shared<Counting>(instance);
  Computation computation{.op = op};
  Profile profile;
  Run run{profile};
  apply(computation, 0, run);
  CHECK(op->runs() == 1);
  CHECK(computation.timing.apply_total.samples == 1);
  CHECK(computation.timing.apply_total.median_ms == doctest::Approx(1000));
  CHECK(computation.timing.few_samples);
}
