// A cancel ends every step of every variant, and nothing is begun after it. How long that takes is
// measured by tests/bench/bench_cancelling.cpp.
#include <doctest/doctest.h>

#include "evaluate/computation.h"
#include "harness.h"
#include "session/session.h"
#include "window/backend.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Asks for a stop as its step of a number begins, counted from 1, and counts them.
class StopsAt : public CpuLike {
 public:
  StopsAt(int step, std::stop_source& stop) : step_(step), stop_(stop) {}
  int begun() const { return begun_; }

  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    begin();
    return std::make_unique<Wrapped>(
        CpuLike::bind(std::move(plan), problem, run), [this] { begin(); }, [this] { begin(); });
  }
  std::vector<std::int32_t> lsh_buckets(MatrixView x, MatrixView directions,
                                        Run& run) const override {
    begin();
    return CpuLike::lsh_buckets(x, directions, run);
  }
  std::vector<std::int32_t> route(MatrixView x, const Tree& tree, Run& run) const override {
    begin();
    return CpuLike::route(x, tree, run);
  }
  Matrix product(MatrixView a, MatrixView b, Run& run) const override {
    begin();
    return CpuLike::product(a, b, run);
  }
  std::vector<std::int32_t> stable_order(std::span<const std::int32_t> keys, std::int32_t count,
                                         Run& run) const override {
    begin();
    return CpuLike::stable_order(keys, count, run);
  }
  Spectra singular_values(std::span<const MatrixView> blocks, Run& run) const override {
    begin();
    return CpuLike::singular_values(blocks, run);
  }

 private:
  void begin() const {
    if (++begun_ == step_) stop_.request_stop();
  }
  int step_;
  std::stop_source& stop_;
  mutable int begun_ = 0;
};

}  // namespace

TEST_CASE("cancel: whichever step of a variant it comes in, that step is the last one") {
  Problem problem = make_data(Data::gaussian, 500, 16, 8, false);
  for (const Variant& variant : variants())
    for (const bool causal : {false, true}) {
      if (!(causal ? variant.has_causal_form() : variant.has_bidirectional_form())) continue;
      problem.causal = causal;
      const ComputeRequest request{.variant = &variant, .values = values_for_length(variant, 500)};
      CAPTURE(variant.id);
      CAPTURE(causal);
      int steps = 0;
      for (bool cancelled = true; cancelled; ++steps) {
        CAPTURE(steps);
        std::stop_source stop;
        const StopsAt backend(steps + 1, stop);
        Profile profile;
        Run run{profile, stop.get_token()};
        cancelled = false;
        try {
          compute(problem, request, backend, run);
        } catch (const Cancelled&) {
          cancelled = true;
        }
        CHECK(cancelled == (backend.begun() > steps));  // else there are no more steps
        if (cancelled) CHECK(backend.begun() == steps + 1);
      }
      CHECK(steps > 2);  // it is bound, and applied
    }
}

TEST_CASE("cancel: a run that is stopped before it begins begins no step") {
  Problem problem = make_data(Data::gaussian, 500, 16, 8, false);
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    problem.causal = !variant.has_bidirectional_form();
    std::stop_source stop;
    stop.request_stop();
    const StopsAt backend(0, stop);
    Profile profile;
    Run run{profile, stop.get_token()};
    CHECK_THROWS_AS(
        compute(problem, {.variant = &variant, .values = values_for_length(variant, 500)}, backend,
                run),
        Cancelled);
    CHECK(backend.begun() <= 1);
  }
}

TEST_CASE("cancel: no block is decomposed after it") {
  const Problem problem = make_data(Data::gaussian, 400, 64, 1, false);
  const Instance exact = make_instance(*backends().front(), problem, "exact", {});
  const Matrix block = exact.all();
  std::stop_source stop;
  stop.request_stop();
  Profile profile;
  Run run{profile, stop.get_token()};
  const MatrixView blocks[] = {block};
  for (const auto& backend : backends())
    CHECK_THROWS_AS(backend->singular_values(blocks, run), Cancelled);
}
