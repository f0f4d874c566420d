#include "bench/entry.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "backend/backends.h"
#include "backend/stage_names.h"
#include "bench/side_by_side.h"
#include "data/error.h"
#include "device/device_operator.h"
#include "device/head_start.h"
#include "device/timeline.h"
#include "variants/variant.h"

namespace fovea::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Owner = std::shared_ptr<const void>;

/// Adds a part that began at `start`, and its stages.
void add_part(EndToEnd& to, const std::string& name, Clock::time_point start,
              const Profile& profile) {
  const double took = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  to.total += took;
  to.stages[name] += took;
  for (const StageTime& stage : profile.stages())
    to.stages[name + ": " + stage.name] += stage.milliseconds;
}

bool moves_data(const std::string& stage) {
  return stage == "upload" || stage == "download" || stage == "flatten";
}

std::string describe(const RowErrors& errors, const char* on) {
  char text[128];
  std::snprintf(text, sizeof text, "error %.2g, of the plain formula %.2g, on %s logits",
                errors.ours, errors.plain, on);
  return text;
}

}  // namespace

Problem peaked(const Problem& head) {
  Matrix q = Matrix::copy_of(head.q);
  for (Index i = 0; i < q.rows(); ++i)
    for (Index c = 0; c < q.cols(); ++c) q(i, c) *= 16;
  return make_problem(std::move(q), Matrix::copy_of(head.k), Matrix::copy_of(head.v), head.scale,
                      head.causal, head.head);
}

Entry::Entry(const Backend& backend, Contender contender, const std::vector<Problem>& heads,
             const Problem& together)
    : backend_(backend),
      contender_(std::move(contender)),
      heads_(heads),
      together_(together),
      kernels_(kernels_for(contender_.id, contender_.precision,
                           find_cuda_device(nullptr).value().wgmma)) {
  EndToEnd not_needed;
  operator_ = plan_and_bind(heads, together, not_needed);
  if (!dynamic_cast<const cuda::DeviceOperator*>(operator_.get()))
    throw UnavailableError(contender_.id + " does not run on the device");
}

std::unique_ptr<Operator> Entry::plan_and_bind(const std::vector<Problem>& heads,
                                               const Problem& together, EndToEnd& took) const {
  const Variant& variant = find_variant(contender_.id);
  Values values = defaults(variant.schema);
  for (const auto& [id, text] : contender_.settings) set_value(variant.schema, values, id, text);
  Profile planned;
  Run planning_run{planned};
  const Structure derive_all;
  std::vector<Plan> plans;
  auto start = Clock::now();
  std::vector<std::shared_ptr<const void>> held;
  for (const Problem& head : heads) {
    held.push_back(backend_.hold(head));
    Planning planning{backend_, planning_run, 0, derive_all};
    plans.push_back(variant.plan(head, values, planning));
  }
  add_part(took, "plan", start, planned);
  auto plan = std::make_shared<const Plan>(side_by_side(plans));
  Profile bound;
  Run binding_run{bound};
  start = Clock::now();
  auto op = backend_.bind(std::move(plan), together, binding_run);
  add_part(took, "bind", start, bound);
  return op;
}

Times Entry::run(Output* z) const {
  Profile profile;
  Run run{profile};
  Output out = operator_->apply(together_.v, run);
  if (z) *z = std::move(out);
  Times times = times_of(profile);
  require_kernel(times, kernels_);
  return times;
}

Times times_of(const Profile& profile) {
  Times times;
  const auto ran = [&](const std::string& kernel) {
    times.kernel += (times.kernel.empty() ? "" : " and ") + kernel;
  };
  for (const auto& [name, milliseconds] : profile.stages()) {
    const std::string_view late = cuda::Timeline::late_prefix, by = cuda::Timeline::kernel_prefix;
    if (name.starts_with(late)) {
      if (!moves_data(name.substr(late.size()))) times.late += milliseconds;
    } else if (name.starts_with(by)) {
      ran(name.substr(by.size()));
    } else if (name == wgmma_timed_out) {
      ran("wgmma that timed out");
    } else {
      times.stages[name] = milliseconds;
      if (!moves_data(name)) times.kernels += milliseconds;
    }
  }
  return times;
}

void require_kernel(const Times& times, const std::vector<std::string>& expected) {
  if (times.kernel.empty() || std::ranges::count(expected, times.kernel) > 0) return;
  std::string text;
  for (const std::string& each : expected) text += (text.empty() ? "" : " or ") + each;
  throw UnavailableError("computed by " + times.kernel + "; expected " + text);
}

RowErrors Entry::errors(int rows) const {
  Output out;
  run(&out);
  return errors_of(operator_->plan(), together_, out.z, rows, contender_.precision);
}

EndToEnd Entry::end_to_end() const {
  const cuda::HeadStart none(0);
  // Their owner is new, so that none of their tensors is on the device yet.
  std::vector<Problem> heads = heads_;
  Problem together = together_;
  for (Problem& head : heads) head.owner = std::make_shared<Owner>(head.owner);
  together.owner =
      heads.size() == 1 ? heads.front().owner : std::make_shared<Owner>(together.owner);
  const auto compute = [&](EndToEnd& took) {
    std::unique_ptr<Operator> bound = plan_and_bind(heads, together, took);
    Profile profile;
    Run run{profile};
    const auto start = Clock::now();
    const Output out = bound->apply(together.v, run);
    add_part(took, "run", start, profile);
    require_kernel(times_of(profile), kernels_);
    return bound;
  };
  EndToEnd took, again;
  const std::unique_ptr<Operator> first = compute(took);
  compute(again);
  took.stages["again"] = again.total;
  return took;
}

Gate Entry::gate(int rows) const {
  const std::vector<Problem> sharp{peaked(heads_.front())};
  return {errors(rows), Entry(backend_, contender_, sharp, sharp.front()).errors(rows)};
}

std::string Gate::reason() const {
  if (!accurate(random)) return describe(random, "random");
  return accurate(peaked) ? "" : describe(peaked, "peaked");
}

}  // namespace fovea::bench
