
#include <algorithm>
#include <cmath>
#include <limits>

#include "data/shortened_text.h"
#include "data/text.h"
#include "evaluate/not_finite.h"
#include "variants/described_variant.h"
#include "views/parts.h"
#include "views/views.h"

namespace fovea {
namespace views {

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

std::string rounded_percent(double share, const Estimate& estimate) {
  std::string text = format_percent(share, share < 0.995 ? 2 : 3);  // not "10² %"
  if (estimate.standard_error > 0) text += " ± " + format_percent(estimate.standard_error);
  return text;
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

}  // namespace views

namespace {

constexpr std::string_view outside = "The view lies outside the matrix: press F to fit.";

ViewKind::Body body_of(View view, const PanelInputs& in, std::string& caption, Run& run) {
  if (!view->make) return Message{"There is no view."};
  if (view->needs_entries && !has_entries(in.computation.op->plan()))
    return Message{"The file holds z of this result, not its weights p."};
  return view->make(in, caption, run);
}

/// Says which rows of what the panel shows are not finite, and where rounding is large.
void add_note_of_numbers(View view, const PanelInputs& in, std::string& caption) {
  if (view->shows_plan_only) return;
  const std::string its = note_of_numbers(in.computation);
  if (!its.empty()) views::add(caption, its);
  if (!view->needs_exact || views::is_exact(in)) return;
  if (const std::string of_exact = note_of_numbers(in.exact); !of_exact.empty())
    views::add(caption, of_exact);
}

IndexRange within(IndexRange r, Index n) {
  return {std::clamp<Index>(r.begin, 0, n), std::clamp<Index>(r.end, 0, n)};
}

}  // namespace

std::shared_ptr<MapPyramid> make_map(View view, const Computation& computation,
                                     const Computation& exact, const ViewSettings& settings,
                                     Index side) {
  if (!view->map) return nullptr;
  return std::make_shared<MapPyramid>(computation.op->plan().lengths.n(), settings.pool,
                                      view->map(computation, exact, settings), side);
}

Panel make_matrix_panel(View view, MatrixView attention, const ViewSettings& settings,
                        IndexRange rows, IndexRange cols, Index max_pixels, const Backend& backend,
                        Run& run) {
  rows = within(rows, attention.rows);
  cols = within(cols, attention.cols);
  Panel panel{.view = view, .title = {}, .subtitle = {}, .caption = {}, .body = {}};
  const views::MatrixFrame frame{views::Grid(rows, cols, std::max<Index>(1, max_pixels)), settings,
                                 nullptr};
  if (rows.size() <= 0 || cols.size() <= 0)
    panel.body = Message{std::string(outside)};
  else if (view->of_matrix)
    panel.body = view->of_matrix(attention, frame, backend, panel.caption, run);
  else
    panel.body = Message{"This needs Q, K and V; the file holds only an attention matrix."};
  return panel;
}

std::string parameters_of(const Variant& variant, const Values& values, bool causal,
                          const Recurrence* recurrence) {
  if (variant.reference) return (recurrence ? recurrence->name() : "softmax") + ", the reference";
  std::vector<std::size_t> used;
  for (std::size_t f = first_parameter(variant, recurrence); f < variant.schema.size(); ++f) {
    const Field& field = variant.schema[f];
    if (to_text(values[f]).empty() || (field.causal_only && !causal)) continue;
    if (is_used(field, variant.schema, values)) used.push_back(f);
  }
  const auto is_default = [&](std::size_t f) { return values[f] == variant.schema[f].standard; };
  constexpr std::size_t most = 2;
  const auto chosen = std::ranges::find_if(
      used.begin() + static_cast<std::ptrdiff_t>(std::min(most, used.size())), used.end(),
      [&](std::size_t f) { return !variant.schema[f].choices.empty() && !is_default(f); });
  const bool names_it = chosen != used.end() && is_default(used[most - 1]);
  if (names_it) used[most - 1] = *chosen;
  used.resize(std::min(most, used.size()));
  std::string text = first_parameter(variant, recurrence) > 0 ? "gates of the head" : "";
  for (std::size_t u = 0; u < used.size(); ++u) {
    const Field& field = variant.schema[used[u]];
    const bool names = field.choices.empty() || (names_it && u == most - 1);
    add_item(text, (names ? field.id + " " : "") + shortened_text(to_text(values[used[u]])));
  }
  return text;
}

std::optional<HeadlineError> headline_error(const Metrics& metrics) {
  if (metrics.of_outputs()) return HeadlineError{"relative output error", metrics.output_rel_fro};
  if (metrics.of_attention())
    return HeadlineError{"relative attention error", metrics.attention_rel_fro.value};
  return {};
}

std::string subtitle_of(const Variant& variant, const Values& values, bool causal,
                        const Metrics* metrics, const Recurrence* recurrence) {
  std::string text = parameters_of(variant, values, causal, recurrence);
  const auto error = metrics && !variant.reference ? headline_error(*metrics) : std::nullopt;
  if (error)
    views::add(text, std::isnan(error->value)
                         ? error->name + " not defined"
                         : format_number(error->value, 3, Zeros::keep) + " " + error->name);
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
                                      in.computation.op->problem().is_causal(), in.metrics,
                                      in.computation.op->problem().recurrence.get()),
              .caption = {},
              .body = {}};
  if (in.rows.size() <= 0 || in.cols.size() <= 0)
    panel.body = Message{std::string(outside)};
  else
    panel.body = body_of(view, in, panel.caption, run);
  if (view->tells_plan_notes)
    for (const std::string& note : in.computation.op->plan().notes) views::add(panel.caption, note);
  add_note_of_numbers(view, in, panel.caption);
  if (in.metrics) add_row_errors(panel, in.metrics->token_error);
  return panel;
}

void add_row_errors(Panel& panel, const std::vector<float>& token_error) {
  auto* raster = std::get_if<Raster>(&panel.body);
  if (!raster || !panel.view->has_token_errors || raster->rows.end > std::ssize(token_error))
    return;
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
  views::add(panel.caption, "strip: " + raster->row_quantity + ", at most " + format_number(most) +
                                (odd > 0 ? ", not defined in " + plural(odd, "row") : ""));
}

}  // namespace fovea
