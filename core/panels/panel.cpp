#include "panels/panel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluate/not_finite.h"
#include "panels/panels.h"

namespace fovea {
namespace panels {

void set_range(Raster& raster) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (Index r = 0; r < raster.values.rows(); ++r)
    for (Index c = 0; c < raster.values.cols(); ++c)
      if (const float x = raster.values(r, c); std::isfinite(x)) {
        low = std::min(low, x);
        high = std::max(high, x);
      }
  if (low > high) low = 0, high = 1;
  raster.low = static_cast<double>(low);
  raster.high = static_cast<double>(high);
}

std::string shown_part(const PanelInputs& in) {
  const Plan& plan = in.computation.op->plan();
  const bool whole =
      in.rows == IndexRange{0, plan.queries()} && in.cols == IndexRange{0, plan.keys()};
  return whole ? "" : "shown part: ";
}

void add(std::string& caption, const std::string& text) {
  caption += (caption.empty() ? "" : " · ") + text;
}

Message error_of_exact(const PanelInputs& in) {
  const Index odd = in.exact.not_finite.rows, rows = in.exact.op->plan().queries();
  if (odd == 0) return Message{"zero by definition"};
  if (odd == rows) return Message{"not defined: no row is finite"};
  return Message{"zero by definition in the " + plural(rows - odd, "row") + " that " +
                 (rows - odd == 1 ? "is" : "are") + " finite"};
}

}  // namespace panels

namespace {

bool needs_entries(View view) {
  return view == View::heatmap || view == View::error || view == View::rank ||
         view == View::level || view == View::row;
}

panels::Body body_of(View view, const PanelInputs& in, std::string& caption, Run& run) {
  if (needs_entries(view) && !has_entries(in.computation.op->plan()))
    return Message{"The file holds z of this result, not its weights p."};
  switch (view) {
    case View::heatmap:
      return panels::heatmap(in, caption, run);
    case View::error:
      return panels::error(in, caption, run);
    case View::mask:
      return panels::mask(in, caption, run);
    case View::reach:
      return panels::reach(in, caption, run);
    case View::rank:
      return panels::rank(in, caption, run);
    case View::level:
      return panels::level(in, caption, run);
    case View::tree:
      return panels::tree(in, caption, run);
    case View::row:
      return panels::row(in, caption, run);
    case View::output:
      return panels::output(in, caption, run);
    case View::cost:
      return panels::cost(in, caption, run);
  }
  return Message{"Unknown view."};
}

/// The error of the output, or of P if outputs are not known. Empty if neither is.
std::string headline_error(const Metrics& metrics) {
  const auto with = [](double error, const std::string& name) {
    return std::isnan(error) ? name + " not defined" : format_number(error) + " " + name;
  };
  if (metrics.of_outputs()) return with(metrics.output_rel_fro, "relative output error");
  if (metrics.of_attention())
    return with(metrics.attention_rel_fro.value, "relative attention error");
  return {};
}

/// Says which rows of what the panel shows are not finite, and where rounding is large.
void add_note_of_numbers(View view, const PanelInputs& in, std::string& caption) {
  if (view == View::mask || view == View::reach || view == View::tree) return;
  const std::string its = note_of_numbers(in.computation);
  if (!its.empty()) panels::add(caption, its);
  if (!needs_exact(view) || panels::is_exact(in)) return;
  if (const std::string of_exact = note_of_numbers(in.exact); !of_exact.empty())
    panels::add(caption, of_exact);
}

IndexRange within(IndexRange r, Index n) {
  return {std::clamp<Index>(r.begin, 0, n), std::clamp<Index>(r.end, 0, n)};
}

}  // namespace

bool needs_exact(View view) {
  switch (view) {
    case View::heatmap:
    case View::mask:
    case View::reach:
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
  settings.shared_range = standard.shared_range;
  settings.ranges.clear();
  settings.hidden.clear();
  if (view != View::row) settings.log_floor = standard.log_floor;
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

std::string subtitle_of(const Variant& variant, const Values& values, bool causal,
                        const Metrics* metrics) {
  if (variant.reference) return "softmax, the reference";
  constexpr int most = 2;
  std::string text;
  int shown = 0;
  for (std::size_t f = 0; f < variant.schema.size() && shown < most; ++f) {
    const Field& field = variant.schema[f];
    const std::string value = to_text(values[f]);
    if (value.empty() || (field.causal_only && !causal)) continue;
    if (!is_used(field, variant.schema, values)) continue;
    text += (text.empty() ? "" : ", ") + (field.choices.empty() ? field.id + " " : "") + value;
    ++shown;
  }
  if (const std::string error = metrics ? headline_error(*metrics) : ""; !error.empty())
    panels::add(text, error);
  return text;
}

Panel make_panel(View view, const PanelInputs& inputs, Run& run) {
  const auto [queries, keys] = inputs.computation.op->plan().lengths;
  PanelInputs in = inputs;
  in.rows = within(inputs.rows, queries);
  in.cols = within(inputs.cols, keys);
  in.max_pixels = std::max<Index>(1, inputs.max_pixels);
  Panel panel{.view = view,
              .title = in.computation.variant->label,
              .subtitle = subtitle_of(*in.computation.variant, in.computation.values,
                                      in.computation.op->plan().causal, in.metrics),
              .caption = {},
              .body = {}};
  if (in.rows.size() <= 0 || in.cols.size() <= 0)
    panel.body = Message{"The view lies outside the matrix: press F to fit."};
  else
    panel.body = body_of(view, in, panel.caption, run);
  if (view == View::heatmap || view == View::mask || view == View::cost)
    for (const std::string& note : in.computation.op->plan().notes)
      panels::add(panel.caption, note);
  add_note_of_numbers(view, in, panel.caption);
  const auto& rule = in.computation.op->problem().rule;
  if (rule && rule->sink && view == View::heatmap)
    panels::add(panel.caption, "rows sum to less than 1: a sink takes the rest");
  if (in.metrics) add_row_errors(panel, in.metrics->token_error);
  return panel;
}

void add_row_errors(Panel& panel, const std::vector<float>& token_error) {
  auto* raster = std::get_if<Raster>(&panel.body);
  if (!raster || panel.view != View::error || raster->rows.end > std::ssize(token_error)) return;
  if (!raster->row_values.empty()) return;  // the errors are there already
  double most = 0;
  Index odd = 0;
  for (const float error : token_error) {
    odd += std::isnan(error);
    if (error > most) most = error;
  }
  if (most == 0) return;
  raster->row_values.assign(token_error.begin() + raster->rows.begin,
                            token_error.begin() + raster->rows.end);
  raster->row_top = most;
  raster->row_quantity = "output error |z̃ − z|";
  panels::add(panel.caption, "strip: " + raster->row_quantity + ", at most " + format_number(most) +
                                 (odd > 0 ? ", not defined in " + plural(odd, "row") : ""));
}

}  // namespace fovea
