// Which pairs a plan picks of those that the head's own conditions admit.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/block_mask.h"
#include "analysis/selected_recall.h"
#include "analysis/support.h"
#include "views/parts.h"

namespace fovea::views {
namespace {

constexpr float all_masked = -std::numeric_limits<float>::infinity(),
                not_known = std::numeric_limits<float>::quiet_NaN();

// Where the colours of shares begin: 0 lies below by more than what counts as rounding.
constexpr double least_share = 2e-4;

enum class QueryFigure { recall, mass };

struct SelectionSettings {
  QueryFigure strip = QueryFigure::recall;

  static std::vector<TypedViewField<SelectionSettings>> fields() {
    return {{choice_field<SelectionSettings>(
                 "selection_strip", "Strip", &SelectionSettings::strip, {"recall", "mass"},
                 "What the strip beside a selection shows of each query: which share of its keys "
                 "of the largest exact weights is picked, or of its exact mass"),
             "Selection st&rip",
             {{"recall", "recall of top keys"}, {"mass", "mass caught"}}}};
  }
};

/// A number of each query, for the strip.
struct OfQueries {
  std::vector<float> values;  // [queries]; NaN if not known; empty if there are none
  std::string name;
};

const Diagnostic* recall_in(const PanelInputs& in) {
  if (!in.diagnostics) return nullptr;
  const auto found = std::ranges::find(*in.diagnostics, selected_recall_id, &Diagnostic::id);
  return found == in.diagnostics->end() ? nullptr : &*found;
}

OfQueries recall_of_queries(const PanelInputs& in) {
  const Diagnostic* recall = recall_in(in);
  return {recall ? recall->rows : std::vector<float>(), "recall of the query's top keys"};
}

OfQueries mass_of_queries(const PanelInputs& in) {
  OfQueries mass{{}, "mass caught of the query"};
  if (in.metrics)
    for (const float dropped : in.metrics->dropped_mass) mass.values.push_back(1 - dropped);
  return mass;
}

void add_selection_strip(const PanelInputs& in, Raster& raster) {
  const bool wants_mass = read_settings<SelectionSettings>(in.settings).strip == QueryFigure::mass;
  OfQueries shown = wants_mass ? mass_of_queries(in) : recall_of_queries(in);
  const bool has_none = in.diagnostics && !recall_in(in);
  if (!wants_mass && has_none) shown = mass_of_queries(in);
  if (shown.values.empty()) return;
  const auto first = shown.values.begin();
  raster.row_values.assign(first + in.rows.begin, first + in.rows.end);
  raster.row_values.resize(raster.rows.size(), not_known);
  raster.row_quantity = shown.name;
}

double sum_of(const std::vector<double>& pairs) {
  return std::accumulate(pairs.begin(), pairs.end(), 0.0);
}

std::string words_of_pairs(const PanelInputs& in, double picked, double available) {
  const double all = static_cast<double>(in.rows.size()) * static_cast<double>(in.cols.size());
  const std::string part = shown_part(in), apart = part.empty() ? " · " : ", ";
  if (available == 0) return part + "all pairs masked";
  std::string words = part +
                      (picked == available ? "all" : rounded_percent(picked / available) + " of") +
                      " available pairs picked";
  if (available < all)
    words += apart + rounded_percent(1 - available / all) + " of all pairs masked";
  return words;
}

void add_caught(const PanelInputs& in, std::string& caption) {
  if (const Diagnostic* recall = recall_in(in); recall && !std::isnan(recall->value))
    add(caption, "recall of top keys " +
                     rounded_percent(recall->value, {recall->value, recall->standard_error}));
  if (in.metrics && !in.metrics->dropped_mass.empty() && !std::isnan(in.metrics->mass_kept.value))
    add(caption,
        "mass caught " + rounded_percent(in.metrics->mass_kept.value, in.metrics->mass_kept));
}

Body selection(const PanelInputs& in, std::string& caption, Run& run) {
  run.check();
  const Plan& plan = in.computation.op->plan();
  const Lengths pixel{tokens_of_pixel(in.rows.size(), in.max_pixels),
                      tokens_of_pixel(in.cols.size(), in.max_pixels)};
  const auto picked = block_pairs(plan, in.rows, in.cols, pixel, run.stop),
             available = block_pairs(plan_of_admissible(plan), in.rows, in.cols, pixel, run.stop);
  Raster raster;
  raster.values = Matrix(number_of_blocks(in.rows.size(), pixel.queries),
                         number_of_blocks(in.cols.size(), pixel.keys));
  raster.rows = {in.rows.begin, in.rows.begin + raster.values.rows() * pixel.queries};
  raster.cols = {in.cols.begin, in.cols.begin + raster.values.cols() * pixel.keys};
  std::size_t at = 0;
  for (Index r = 0; r < raster.values.rows(); ++r)
    for (Index c = 0; c < raster.values.cols(); ++c, ++at)
      raster.values(r, c) =
          available[at] > 0 ? static_cast<float>(picked[at] / available[at]) : all_masked;
  raster.pooled = Pool::Kind::mean;
  raster.palette = Palette::shares;
  raster.low = least_share;
  raster.categories = {"available, not picked", "picked"};
  raster.quantity = "pairs";
  if (pixel != Lengths{1, 1}) {
    raster.categories.insert(raster.categories.begin() + 1, "a quarter picked");
    raster.quantity = "picked share of the available pairs";
  }
  add(caption, words_of_pairs(in, sum_of(picked), sum_of(available)));
  add_caught(in, caption);
  add_selection_strip(in, raster);
  return raster;
}

}  // namespace
}  // namespace fovea::views

namespace fovea {

ViewKind selection_view() {
  return {.id = "selection",
          .label = "Selection",
          .meaning =
              "Which pairs are picked, which are available but not picked, and which are masked: "
              "the causal mask, the window, documents or the mask of the head exclude them. A "
              "strip beside it has the recall of each query's top keys, or the mass caught.",
          .make = views::selection,
          .needs_entries = true,
          .metrics = ViewKind::Uses::always,
          .uses_diagnostics = true,
          .shows_plan_only = true,
          .tells_plan_notes = true,
          .has_keys = true,
          .has_colours = true,
          .fields = fields_of<views::SelectionSettings>()};
}

}  // namespace fovea
