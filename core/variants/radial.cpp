// Radial attention: a window in each frame of a video, half as wide whenever frames are twice as
// far apart.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "analysis/key_sets.h"
#include "data/memory.h"
#include "variants/token_grid.h"
#include "variants/variant.h"
#include "variants/window_tiles.h"

namespace fovea {
namespace {

struct RadialParameters : GridParameters {
  double reach = 1;
  FirstFrame first_frame = FirstFrame::attended;

  static std::vector<TypedField<RadialParameters>> fields() {
    using P = RadialParameters;
    auto reach = real_field<P>(
        "reach", "Reach w", "frames", &P::reach, 0, 131072, Axis::log2,
        "Places of keys in their frames are less than w T away, for T tokens of a frame, in the "
        "own frame and those beside it. In frames 2 and 3 away they are half as far, in frames 4 "
        "to 7 a quarter. Where that is less than one place, the own place is attended in some "
        "frames.");
    // A shorter head is taken for a single frame.
    reach.field.for_short_head = [](Index) { return Value(0.25); };
    reach.field.worth_trying = [](Index n) {
      return n < default_length ? std::vector<Value>{0.25, 0.5, 0.125, 0.0625}
                                : std::vector<Value>{1.0, 0.5, 2.0, 0.25};
    };
    std::vector<TypedField<P>> all{
        reach, choice_field("first_frame", "First frame", &P::first_frame, {"masked", "attended"},
                            "attended: all tokens attend the first frame, too, if there are "
                            "several.")};
    for (auto& field : grid_fields<P>()) all.push_back(std::move(field));
    return all;
  }
};

class RadialPlanner {
 public:
  RadialPlanner(const Problem& problem, const RadialParameters& p, Planning& planning)
      : problem_(problem), n_(problem.n()), p_(p), grid_(p, n_), planning_(planning) {}

  Plan plan() {
    const IndexRange text = grid_.text();
    const auto frames = static_cast<double>(grid_.frames());
    require_memory(sizeof(Tile) * frames * (frames + 1) *
                       static_cast<double>(number_of_blocks(grid_.area(), rows_of_tile)),
                   "the tiles of " + std::to_string(grid_.frames()) + " frames",
                   "Larger frames need less");
    if (text.size() > 0) pass_.tiles.push_back({text, {0, n_}});
    for (Index frame = 0; frame < grid_.frames(); ++frame) {
      planning_.run.check();
      const IndexRange own = grid_.tokens_of(frame);
      for (Index begin = own.begin; begin < own.end; begin += rows_of_tile)
        add_tiles(frame, {begin, std::min(begin + rows_of_tile, own.end)});
    }
    return {.lengths = {n_, n_},
            .form = TilePlan{.passes = {std::move(pass_)}},
            .notes = grid_.notes(problem_)};
  }

 private:
  /// How many places further on, at most, a key is attended in a frame at this distance; -1 if the
  /// frame is left out.
  Index places_away(Index distance) const {
    const auto halved = static_cast<double>(
        std::bit_floor(static_cast<std::uint64_t>(std::max<Index>(distance, 1))));
    const double window = p_.reach * static_cast<double>(grid_.area());
    if (window >= halved) return static_cast<Index>(std::floor(std::min(window / halved, 1e9))) - 1;
    // Less than one place: the own place, in one of every `apart` frames.
    const double apart = std::ceil(halved / window);
    return std::fmod(static_cast<double>(distance), apart) == 0 ? 0 : -1;
  }

  /// The tiles of some queries of a frame, none of which share a pair.
  void add_tiles(Index frame, IndexRange queries) {
    if (grid_.text().size() > 0) pass_.tiles.push_back({queries, grid_.text()});
    for (Index other = 0; other < grid_.frames(); ++other) {
      const IndexRange keys = grid_.tokens_of(other);
      const bool whole = other == 0 && grid_.frames() > 1 && p_.first_frame == FirstFrame::attended;
      const Index reach = whole ? grid_.area() : places_away(std::abs(frame - other)),
                  shift = (frame - other) * grid_.area();
      const IndexRange near =
          keys.intersected({queries.begin - shift - reach, queries.end - shift + reach});
      if (reach < 0 || near.size() == 0) continue;
      const bool all = reach >= grid_.area() - 1;
      pass_.tiles.push_back(
          {queries, near, all ? Band{} : Band{.lo = shift - reach, .hi = shift + reach}});
    }
  }

  const Problem& problem_;
  const Index n_;
  const RadialParameters& p_;
  const TokenGrid grid_;
  Planning& planning_;
  Pass pass_;
};

Plan plan_radial(const Problem& problem, const RadialParameters& p, Planning& planning) {
  return RadialPlanner(problem, p, planning).plan();
}

}  // namespace

Variant radial_variant() {
  return make_variant<RadialParameters>(
      {.id = "radial",
       .label = "Radial attention",
       .paper = "Li et al. 2025 (Radial Attention), without its rounding to blocks",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Sᵢ,  Sᵢ: the text, the first frame, and in frames "
                  "δ away |i mod T − j mod T| < ⌊w T / b⌋, b: the largest power of 2 ≤ max(δ, 1); "
                  "where w T < b the own place, if δ mod ⌈b / w T⌉ = 0",
       .summary = "In videos a window in each frame, half as wide at twice the distance.",
       .mask = Mask::bidirectional_only,
       .group = Group::grids,
       .quick = true,
       .diagnostics = {key_set_figures}},
      plan_radial);
}

}  // namespace fovea
