// The view of what two layers of a pattern connect.
#include "analysis/reach.h"

#include <algorithm>
#include <limits>

#include "views/parts.h"
#include "views/reach_text.h"

namespace fovea::views {
namespace {

/// At most this many numbers of paths are counted, but at least one row of each pixel; for heads of
/// up to 8192 tokens every row.
constexpr Index most_counts = Index{1} << 26;

/// The queries that are counted for a row of pixels: all of them, or some at even distances.
std::vector<Index> evenly_spaced(IndexRange queries, Index most) {
  const Index count = std::min(queries.size(), most);
  std::vector<Index> out;
  for (Index t = 0; t < count; ++t)
    out.push_back(queries.begin + (2 * t + 1) * queries.size() / (2 * count));
  return out;
}

/// Counts from the rows of one row of pixels: its pixels, and the pairs of the view that are
/// reached.
struct Counts {
  std::vector<double> pixels;                     // [across]: largest, or sum over counted rows
  double one_hop = 0, two_hops = 0, allowed = 0;  // pairs
};

struct Counting {
  const TwoHops& hops;
  const Grid& grid;
  bool mean;

  void add(Index query, Counts& counts) const {
    const std::vector<std::int32_t> paths = hops.paths_from(query);
    for (Index c = 0; c < grid.across; ++c) {
      double& pixel = counts.pixels[c];
      const IndexRange keys = grid.col_tokens(c);
      for (Index j = keys.begin; j < keys.end; ++j) {
        const auto count = static_cast<double>(paths[j]);
        pixel = mean ? pixel + count : std::max(pixel, count);
      }
    }
    counts.two_hops += static_cast<double>(hops.reached(query, paths, grid.cols));
    hops.support().for_parts(query, grid.cols, [&](const Support::Part& part) {
      counts.one_hop += static_cast<double>(part.keys.size());
    });
    counts.allowed += static_cast<double>(admissible_keys(hops.support().plan(), query, grid.cols));
  }
};

/// The range of the positive numbers, from half of the least one: pairs that are not reached lie
/// below the range, in a colour close to that of its beginning.
void set_range_of_reached(Raster& raster) {
  float low = std::numeric_limits<float>::infinity(), high = 0;
  for (Index r = 0; r < raster.values.rows(); ++r)
    for (Index c = 0; c < raster.values.cols(); ++c)
      if (const float x = raster.values(r, c); x > 0) {
        low = std::min(low, x);
        high = std::max(high, x);
      }
  if (low > high) low = high = 1;
  raster.low = static_cast<double>(low) / 2;
  raster.high = static_cast<double>(high);
}

std::string share_words(double pairs, double of) {
  const double share = of > 0 ? pairs / of : 0;
  if (pairs == of) return "all";
  return share > 0.995 ? "nearly all" : format_percent(share, 2);
}

std::string why_nothing(const Plan& plan) {
  const auto* projected = plan.as<ProjectedPlan>();
  const bool pairs = !plan.as<FeaturePlan>() && !plan.as<GatedPlan>() &&
                     !plan.as<RecurrentPlan>() && !(projected && !projected->mix.empty());
  return std::string(pairs ? "Every query attends every key that it may"
                           : "This attention has no pattern of pairs: every query gives every key "
                             "that it may attend some weight") +
         ", so one layer already reaches every pair.";
}

Body reach(const PanelInputs& in, std::string& caption, Run& run) {
  const Plan& plan = in.computation.op->plan();
  if (!plan.lengths.equal())
    return Message{
        "Two layers are followed in self-attention, where keys are the queries of the "
        "layer below: this head has " +
        plan.lengths.text() + "."};
  const TwoHops hops(plan);
  if (hops.one_is_enough(run.stop)) return Message{why_nothing(plan)};
  const Grid grid(in.rows, in.cols, in.max_pixels);
  Raster raster;
  raster.rows = in.rows;
  raster.cols = in.cols;
  raster.pooled = grid.pool(in.settings.pool).kind;
  raster.norm = in.settings.norm == Norm::log ? Norm::log : Norm::linear;
  raster.quantity = "keys k with i → k → j";
  raster.under_name = "not reached in two layers";
  raster.values = Matrix(grid.down, grid.across);
  const Index most = std::max<Index>(1, most_counts / plan.keys() / grid.down);
  const bool all = grid.rows.size() * plan.keys() <= most_counts;
  const Counting counting{hops, grid, raster.pooled == Pool::Kind::mean};
  std::vector<Counts> counts(grid.down);
  Index sampled = 0;
  const auto count_row = [&](Index r) {
    const IndexRange queries = grid.row_tokens(r);
    const std::vector<Index> some = evenly_spaced(queries, all ? queries.size() : most);
    Counts& own = counts[r];
    own.pixels.resize(grid.across);
    for (const Index query : some) {
      run.check();
      counting.add(query, own);
    }
    for (Index c = 0; c < grid.across; ++c) {
      const IndexRange keys = grid.col_tokens(c);
      const double entries =
          counting.mean ? static_cast<double>(std::ssize(some) * keys.size()) : 1;
      raster.values(r, c) = plan.causal && keys.begin > queries.end - 1
                                ? -std::numeric_limits<float>::infinity()
                                : static_cast<float>(own.pixels[c] / entries);
    }
  };
  constexpr Index together = 16;  // rows of pixels, between two reports
  for (Index begin = 0; begin < grid.down; begin += together) {
    const Index end = std::min(begin + together, grid.down);
    in.backend.share_out(end - begin, run, [&](Index r) { count_row(begin + r); });
    run.reached(static_cast<double>(end) / static_cast<double>(grid.down));
  }
  Counts sum;
  for (Index r = 0; r < grid.down; ++r) {
    const Counts& own = counts[r];
    sum.one_hop += own.one_hop;
    sum.two_hops += own.two_hops;
    sum.allowed += own.allowed;
    sampled +=
        std::ssize(evenly_spaced(grid.row_tokens(r), all ? grid.row_tokens(r).size() : most));
  }
  set_range_of_reached(raster);
  add(caption, shown_part(in) +
                   "pairs reached in one layer: " + share_words(sum.one_hop, sum.allowed) +
                   ", in two: " + share_words(sum.two_hops, sum.allowed));
  if (sampled < grid.rows.size()) {
    raster.quantity += ", rows sampled";
    add(caption, "counted for " + std::to_string(sampled) + " of " +
                     std::to_string(grid.rows.size()) + " queries, at even distances");
  }
  return raster;
}

}  // namespace
}  // namespace fovea::views

namespace fovea {

ViewKind reach_view() {
  return {.id = "reach",
          .label = "Two-hop reach",
          .meaning =
              "The pairs that two layers of this attention connect: through one token in between.",
          .make = views::reach,
          .takes_long = true,
          .shows_plan_only = true,
          .has_norm = true,
          .has_keys = true,
          .has_colours = true,
          .value_words = reach_text};
}

}  // namespace fovea
