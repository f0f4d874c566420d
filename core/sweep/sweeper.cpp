#include "sweep/sweeper.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tuple>

#include "analysis/metrics.h"
#include "data/error.h"
#include "evaluate/pace.h"
#include "evaluate/timed_runs.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double most_ms = 1000;  // spent on one point

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Planned, bound and applied once.
Computation run_once(const Problem& problem, const Column& column, const Values& values,
                     const Backend& backend, Run& run) {
  return compute(problem,
                 {.variant = &find_variant(column.variant), .values = values, .seed = column.seed},
                 backend, run);
}

Column exact_column() {
  return {.variant = reference_variant().id, .values = {}, .seed = 0};
}

}  // namespace

Sweeper::Sweeper(Problem head, std::vector<Column> columns, SweepLimits limits)
    : head_(std::move(head)), limits_(limits) {
  if (!head_.lengths().equal())
    throw UsageError("a sweep over n of a head with " + head_.lengths().text() +
                     "; expected as many queries as keys");
  sweep_.lengths = sweep_lengths(head_.n());
  if (limits_.longest > 0)
    while (sweep_.lengths.size() > 1 && sweep_.lengths.back() > limits_.longest)
      sweep_.lengths.pop_back();
  sweep_.allowed_seconds = limits_.seconds;
  sweep_.has_values = head_.has_values();
  sweep_.series.push_back({.column = exact_column(), .points = {}, .refusals = {}});
  for (Column& column : columns) {
    const auto same = [&](const SweepSeries& s) { return s.column == column; };
    if (!is_reference(column.variant) && std::ranges::none_of(sweep_.series, same))
      sweep_.series.push_back({.column = std::move(column), .points = {}, .refusals = {}});
  }
  runs_.resize(sweep_.series.size() * sweep_.lengths.size());
}

std::size_t Sweeper::place(Task task) const {
  const auto length = std::ranges::find(sweep_.lengths, task.n) - sweep_.lengths.begin();
  return task.series * sweep_.lengths.size() + static_cast<std::size_t>(length);
}

// Lets repeated runs of all points take about half of the time allowed; first runs of long heads
// take the rest.
double Sweeper::allowance_ms() const {
  const auto points = static_cast<double>(sweep_.series.size() * sweep_.lengths.size());
  return std::min(most_ms, 0.5e3 * limits_.seconds / points);
}

// Extrapolates from the last points of the series, for planning alone. It is never shown.
double Sweeper::expected_ms(Task task) const {
  const auto& points = sweep_.series[task.series].points;
  const auto all_of = [](const SweepPoint& point) {
    return point.learning.median_ms + point.total.median_ms;
  };
  if (const SweepPoint* point = sweep_.series[task.series].at(task.n)) return all_of(*point);
  if (points.empty()) return task.series == 0 ? 0 : expected_ms({0, task.n});
  const SweepPoint& last = points.back();
  double power = 2;
  if (task.series > 0 && points.size() > 1) {
    const SweepPoint& before = points[points.size() - 2];
    power = std::log(all_of(last) / all_of(before)) /
            std::log(static_cast<double>(last.n) / static_cast<double>(before.n));
    power = std::isfinite(power) ? std::clamp(power, 1.0, 2.0) : 2;
  }
  return all_of(last) * std::pow(static_cast<double>(task.n) / static_cast<double>(last.n), power);
}

bool Sweeper::affordable(Task task) const {
  return !runs_[place(task)].refused && expected_ms(task) <= 1e3 * limits_.seconds - spent_ms_;
}

// At first all lengths get their share of the time; the rest goes to points with few runs.
bool Sweeper::wants_share(Task task) const {
  const Runs& has = runs_[place(task)];
  return affordable(task) &&
         (has.runs.empty() || (has.runs.size() < static_cast<std::size_t>(limits_.samples) &&
                               has.spent_ms + expected_ms(task) < allowance_ms()));
}

bool Sweeper::wants_rest(Task task) const {
  return affordable(task) && runs_[place(task)].runs.size() < enough_samples;
}

// The point with the fewest runs comes first; then exact, as the errors of others need it; then the
// quickest, so that one slow variant does not take the time of all others.
std::optional<Sweeper::Task> Sweeper::first_of(bool (Sweeper::*wants)(Task) const) const {
  for (const Index n : sweep_.lengths) {
    std::optional<Task> best;
    const auto rank = [&](Task task) {
      return std::tuple(runs_[place(task)].runs.size(), task.series > 0, expected_ms(task));
    };
    for (std::size_t s = 0; s < sweep_.series.size(); ++s)
      if (const Task task{s, n}; (this->*wants)(task) && (!best || rank(task) < rank(*best)))
        best = task;
    if (best) return best;
  }
  return std::nullopt;
}

std::optional<Sweeper::Task> Sweeper::next() const {
  const auto task = first_of(&Sweeper::wants_share);
  return task ? task : first_of(&Sweeper::wants_rest);
}

double Sweeper::seconds_left() const {
  const double budget = 1e3 * limits_.seconds - spent_ms_;
  double left = 0;
  for (std::size_t s = 0; s < sweep_.series.size(); ++s)
    for (const Index n : sweep_.lengths) {
      const Task task{s, n};
      const double once = expected_ms(task);
      if (!wants_share(task) && !wants_rest(task)) continue;
      const Runs& has = runs_[place(task)];
      const double share = std::min(allowance_ms(), once * limits_.samples) - has.spent_ms;
      const auto missing =
          static_cast<double>(enough_samples) - static_cast<double>(has.runs.size());
      if (left + once <= budget) left += std::max(share, missing * once);
    }
  return std::clamp(left, 0.0, std::max(0.0, budget)) / 1e3;
}

bool Sweeper::step(const Backend& backend, Run& run) {
  sweep_.backend = backend.id();
  sweep_.device = backend.device();
  sweep_.precision = backend.precision();
  const auto task = next();
  if (!task) return false;
  const auto refuse = [&](const std::string& why) {
    runs_[place(*task)].refused = true;
    sweep_.series[task->series].refusals.emplace_back(task->n, why);
  };
  try {
    measure(*task, backend, run);
  } catch (const Cancelled&) {
    throw;
  } catch (const DeviceLostError&) {
    throw;
  } catch (const Error& error) {
    refuse(error.what());
  } catch (const std::bad_alloc&) {
    refuse("not enough memory");
  }
  sweep_.complete = !next();
  return true;
}

void Sweeper::measure(Task task, const Backend& backend, Run& run) {
  const auto start = Clock::now();
  const Problem problem = prefix_of(head_, task.n);
  const Column& column = sweep_.series[task.series].column;
  const Values values = fitted_values(column, head_.n(), task.n).values;
  double slowest = pace(backend, run);
  Computation computation;
  const std::size_t had = runs_[place(task)].runs.size();
  const auto most = static_cast<std::size_t>(limits_.samples);
  std::vector<TimedRun> runs =
      repeat_for(std::chrono::duration<double, std::milli>(limits_.slice_ms),
                 had < most ? most - had : 1, [&] {
                   computation = run_once(apart(problem), column, values, backend, run);
                   return computation.first_run;
                 });
  slowest = std::max(slowest, pace(backend, run));
  take(task, computation, std::move(runs), slowest);
  const double took = ms_since(start);
  runs_[place(task)].spent_ms += took;
  spent_ms_ += took;
}

double Sweeper::pace(const Backend& backend, Run& run) const {
  Index n = sweep_.lengths.front();
  for (const Index m : sweep_.lengths)
    if (m <= pace_length) n = m;
  return pace_ms(prefix_of(head_, n), backend, run);
}

void Sweeper::take(Task task, const Computation& computation, std::vector<TimedRun> runs,
                   double pace) {
  SweepSeries& series = sweep_.series[task.series];
  auto& all = runs_[place(task)].runs;
  all.insert(all.end(), runs.begin(), runs.end());
  if (!series.at(task.n)) {
    const FittedValues fitted = fitted_values(series.column, head_.n(), task.n);
    series.points.push_back({.n = task.n, .values = fitted.values, .fitted = fitted.fitted});
    SweepPoint& point = series.points.back();
    point.bytes = computation.cost.bytes;
    point.notes = computation.op->plan().notes;
    if (task.series == 0) {
      exact_z_ = Matrix::copy_of(computation.output.z);
      exact_n_ = task.n;
    } else if (exact_n_ == task.n) {
      point.error = output_rel_fro(computation.output.z, exact_z_);
    }
  }
  SweepPoint& point = *std::ranges::find(series.points, task.n, &SweepPoint::n);
  const Timing timing = summarise(all);
  point.learning = timing.learning;
  point.plan = timing.plan_total;
  point.upload = timing.upload_total;
  point.apply = timing.apply_total;
  point.total = timing.total;
  point.pace_ms = std::max(point.pace_ms, pace);
  if (sweep_.best_pace_ms <= 0 || pace < sweep_.best_pace_ms) sweep_.best_pace_ms = pace;
}

}  // namespace fovea
