#include "study/study_jobs.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "analysis/metrics.h"
#include "session/pace.h"
#include "sweep/sweep.h"

namespace fovea {
namespace {

constexpr Index card_side = 48;
constexpr Index card_full_pooling = 2048;  // beyond, a card looks at sampled rows: n d work each
constexpr Index card_error_limit = 4096;   // beyond, a whole exact run for every head is too dear

Matrix sampled_picture(const Operator& op, Index n, Index side, Run& run) {
  Matrix picture(side, side);
  for (Index r = 0; r < side; ++r) {
    const Index i = (2 * r + 1) * n / (2 * side);
    const Matrix row = op.tile({i, i + 1}, {0, n}, {Pool::Kind::max, 1, side}, run);
    std::copy_n(row.row(0), side, picture.row(r));
  }
  return picture;
}

// Entropy and density over at most 64 evenly spaced rows.
void read_rows(const Operator& op, Index n, HeadCard& card, Run& run) {
  const Index count = std::min<Index>(n, 64);
  double entropy = 0, dense = 0;
  for (Index r = 0; r < count; ++r) {
    const Index i = (2 * r + 1) * n / (2 * count);
    const Matrix row = op.tile({i, i + 1}, {0, n}, run);
    for (Index j = 0; j < n; ++j) {
      const double p = row(0, j);
      if (p > 0) entropy -= p * std::log(p);
      if (p * static_cast<double>(n) > 1) ++dense;
    }
  }
  card.entropy = entropy / static_cast<double>(count) / std::log(std::max(2.0, double(n)));
  card.density = dense / static_cast<double>(count) / static_cast<double>(n);
}

}  // namespace

HeadCard look_at_head(const Source& source, const HeadCardKey& key, const Backend& backend,
                      Run& run) {
  HeadCard card{.layer = key.layer, .head = key.head};
  const Problem problem = problem_of(source, {key.layer, key.head, key.scale, key.causal});
  const Index n = problem.n(), side = std::min(card_side, n);
  const bool whole = n <= card_full_pooling;
  // Binding is enough for the picture; a run is only needed for the output error.
  const auto op = plan_and_bind(problem, {.variant = &reference_variant()}, backend, run).op;
  card.sampled = !whole;
  card.picture = whole ? op->tile({0, n}, {0, n}, {Pool::Kind::max, side, side}, run)
                       : sampled_picture(*op, n, side, run);
  read_rows(*op, n, card, run);
  if (n <= card_error_limit && !key.column.variant.empty() && !is_reference(key.column.variant)) {
    const Computation approximate = compute(problem,
                                            {.variant = &find_variant(key.column.variant),
                                             .values = key.column.values,
                                             .seed = key.column.seed,
                                             .repeats = 0},
                                            backend, run);
    card.error = output_rel_fro(approximate.output.z, op->apply(problem.v, run).z);
  }
  return card;
}

namespace {

// The same computation once more.
ComputeRequest request_of(const Computation& computation, std::uint64_t seed) {
  return {.variant = computation.variant, .values = computation.values, .seed = seed};
}

}  // namespace

std::optional<ResidentUse> measure_memory(const Computation& computation, std::uint64_t seed,
                                          const Backend& backend, Run& run) {
  const Problem& problem = computation.op->problem();
  return resident_use_of([&] {
    apply_once(*plan_and_bind(problem, request_of(computation, seed), backend, run).op, run.profile,
               run);
  });
}

TimingSamples take_timing(const Computation& computation, std::uint64_t seed,
                          const Backend& backend, double budget_ms, bool warm_up, Run& run) {
  using Clock = std::chrono::steady_clock;
  const auto ms_since = [](Clock::time_point t) {
    return std::chrono::duration<double, std::milli>(Clock::now() - t).count();
  };
  const Problem& problem = computation.op->problem();
  const BoundPlan bound = plan_and_bind(problem, request_of(computation, seed), backend, run);
  TimingSamples samples{.plan = {bound.plan}, .upload = {bound.upload}};

  const auto first = Clock::now();
  if (warm_up) apply_once(*bound.op, run.profile, run);
  do {
    Profile profile;
    apply_once(*bound.op, profile, run);
    samples.apply.push_back(std::move(profile));
  } while (ms_since(first) < budget_ms && samples.apply.size() < 16);
  samples.pace_ms = pace_ms(prefix_of(problem, std::min(problem.n(), pace_length)), backend, run);
  return samples;
}

PairReading read_pair(const Computation& approximate, const Computation& exact, Index query,
                      Index key, Run& run) {
  const IndexRange row{query, query + 1}, col{key, key + 1};
  return {.query = query,
          .key = key,
          .exact = exact.op->tile(row, col, run)(0, 0),
          .approximate = approximate.op->tile(row, col, run)(0, 0),
          .info = pair_info(approximate.op->plan(), query, key)};
}

RowReading read_row(const Computation& computation, Index query, Run& run) {
  const Index n = computation.op->problem().n();
  const Matrix row = computation.op->tile({query, query + 1}, {0, n}, run);
  return {.query = query, .values = {row.row(0), row.row(0) + n}};
}

SelectionReading read_selection(const Computation& approximate, const Computation& exact,
                                IndexRange rows, IndexRange cols, Run& run) {
  SelectionReading reading{.rows = rows, .cols = cols};
  constexpr Index entries = 4'000'000;  // about .1 s
  const Index step = std::max<Index>(1, rows.size() * cols.size() / entries);
  reading.sampled = step > 1;
  double squares = 0;
  Index count = 0;
  for (Index i = rows.begin; i < rows.end; i += step, ++count) {
    const Matrix p = exact.op->tile({i, i + 1}, cols, run);
    const Matrix q = approximate.op->tile({i, i + 1}, cols, run);
    for (Index j = 0; j < cols.size(); ++j) {
      const double a = q(0, j), e = p(0, j);
      reading.exact_mass += e;
      reading.approximate_mass += a;
      reading.exact_max = std::max(reading.exact_max, e);
      reading.approximate_max = std::max(reading.approximate_max, a);
      squares += (a - e) * (a - e);
    }
  }
  reading.exact_mass /= static_cast<double>(count);
  reading.approximate_mass /= static_cast<double>(count);
  reading.rms_error = std::sqrt(squares / static_cast<double>(count * cols.size()));
  return reading;
}

bool needs_exact(View view) {
  switch (view) {
    case View::heatmap:
    case View::mask:
    case View::level:
    case View::tree:
      return false;
    default:
      return true;
  }
}

ViewSettings settings_for(View view, ViewSettings settings) {
  const ViewSettings standard;
  settings.colormap = standard.colormap;
  settings.rank_colour = standard.rank_colour;
  if (view != View::row) settings.log_floor = standard.log_floor;
  settings.shared_range = standard.shared_range;
  if (view != View::error) settings.error = standard.error;
  if (view != View::mask) settings.mask_block = standard.mask_block;
  if (view != View::rank) {
    settings.rank_of = standard.rank_of;
    settings.rank_leaf = standard.rank_leaf;
    settings.rank_tolerance = standard.rank_tolerance;
    settings.rank_partition = standard.rank_partition;
  }
  return settings;
}

}  // namespace fovea
