// What the benchmark times is computed by the kernel that was asked for.
#include <cmath>

#include "backend/backends.h"
#include "backend/stage_names.h"
#include "bench/entry.h"
#include "bench/map_errors.h"
#include "device/head_start.h"
#include "kernels/hopper.h"
#include "laws/cases.h"

using namespace fovea;
using namespace fovea::test;

namespace {

std::string kernel_of(const Problem& problem, const std::string& id, const std::string& precision) {
  const auto backend = make_cuda_backend({.precision = precision}, nullptr);
  const std::vector<Problem> heads{problem};
  const bench::Entry entry(*backend, {id, precision, {}}, heads, problem);
  const cuda::HeadStart ahead(0.01);
  try {
    return entry.run().kernel;
  } catch (const UnavailableError& error) {
    return error.what();
  }
}

Profile profile_of(const std::vector<std::string>& stages) {
  Profile profile;
  for (const std::string& stage : stages) profile.add(stage, 1);
  return profile;
}

}  // namespace

TEST_CASE("benchmark: a run names the kernel that computed it") {
  const Problem problem = make_data(Data::gaussian, 80, 64, 64, false);
  CHECK(kernel_of(problem, "exact", "fp32") == "fp32");
  CHECK(kernel_of(problem, "exact", "fp32-split") == "mma of split numbers");
  CHECK(kernel_of(problem, "tc", "fp32") == "node sums");
  CHECK(kernel_of(make_data(Data::gaussian, 80, 64, 64, true), "tc", "fp32") == "node sums");
  if (!find_cuda_device(nullptr)->wgmma) CHECK(kernel_of(problem, "exact", "bf16") == "mma");
}

TEST_CASE("benchmark: a run by warpgroups is named so") {
  const Hopper hopper(2);
  CHECK(kernel_of(make_data(Data::gaussian, 80, 64, 64, false), "exact", "bf16") == "wgmma");
}

TEST_CASE("benchmark: what fell back to another kernel is refused") {
  Problem unlike = make_data(Data::gaussian, 80, 64, 64, false);
  Matrix values = Matrix::copy_of(unlike.v);
  for (Index c = 0; c < 64; ++c) values(3, c) *= 0x1p-30f;  // cannot be split
  unlike = make_problem(Matrix::copy_of(unlike.q), Matrix::copy_of(unlike.k), std::move(values), 0,
                        false);
  CHECK(kernel_of(unlike, "exact", "fp32-split") ==
        "computed by fp32; expected mma of split numbers");
  using namespace bench;
  const std::vector<std::string> wgmma = kernels_for("exact", "bf16", true);
  CHECK(kernels_for("maps", "bf16", true) == std::vector<std::string>{"wgmma"});
  CHECK(kernels_for("maps", "bf16", false) == std::vector<std::string>{"mma"});
  const Times right = times_of(profile_of({"attend", "kernel: wgmma"}));
  CHECK_NOTHROW(require_kernel(right, wgmma));
  const Times timed_out =
      times_of(profile_of({"attend", wgmma_timed_out, "kernel: wgmma", "kernel: mma"}));
  CHECK_THROWS_AS(require_kernel(timed_out, wgmma), UnavailableError);
  CHECK_THROWS_AS(require_kernel(timed_out, kernels_for("hyper", "bf16", true)), UnavailableError);
  CHECK_THROWS_AS(require_kernel(times_of(profile_of({wgmma_timed_out})), wgmma), UnavailableError);
  CHECK_NOTHROW(require_kernel(times_of(profile_of({"attend"})), wgmma));  // no head start
}

TEST_CASE("benchmark: heads wider than the tiles of warpgroups are refused") {
  const Hopper hopper(2);
  CHECK(kernel_of(make_data(Data::gaussian, 80, 136, 64, false), "exact", "bf16") ==
        "computed by mma; expected wgmma");
}

TEST_CASE("benchmark: end to end there is no head start") {
  const Problem problem = make_data(Data::gaussian, 16, 64, 64, false);
  const auto backend = make_cuda_backend({.precision = "fp32"}, nullptr);
  const std::vector<Problem> heads{problem};
  const bench::Entry entry(*backend, {"exact", "fp32", {}}, heads, problem);
  const cuda::HeadStart ahead(5000);
  CHECK(entry.end_to_end().total < 5000);  // ms; each of its stages would begin with as many
}

TEST_CASE("benchmark: end to end has its parts and their stages") {
  const Problem problem = make_data(Data::gaussian, 80, 64, 64, false);
  const auto backend = make_cuda_backend({.precision = "fp32"}, nullptr);
  const std::vector<Problem> heads{problem};
  const bench::Entry entry(
      *backend, {"hyper", "fp32", {{"block", "16"}, {"samples", "16"}, {"min_length", "0"}}}, heads,
      problem);
  const bench::EndToEnd took = entry.end_to_end();
  CHECK(took.stages.at("plan") + took.stages.at("bind") + took.stages.at("run") ==
        doctest::Approx(took.total));
  for (const char* stage : {"plan: hash", "bind: upload", "run: attend"}) {
    CAPTURE(std::string(stage));
    CHECK(took.stages.count(stage) == 1);
  }
}

TEST_CASE("benchmark: of two maps the less accurate one decides") {
  using bench::MapErrors;
  const bench::RowErrors good{16, 1e-7, 1e-7}, bad{16, 3e-7, 1e-7}, worst{16, NAN, 1e-7};
  CHECK(MapErrors{good, bad}.worse().ours == bad.ours);
  CHECK(MapErrors{bad, good}.worse().ours == bad.ours);
  CHECK(!accurate(MapErrors{good, worst}.worse()));
  CHECK(!accurate(MapErrors{worst, good}.worse()));
}
