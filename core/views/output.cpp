// The output Z.
#include <algorithm>
#include <cmath>

#include "analysis/rounding_budget.h"
#include "views/parts.h"

namespace fovea::views {
namespace {

// Values that begin with a colour: the patches' means, all within [0, 1].
bool shows_colours(const PanelInputs& in) {
  const auto& grid = in.sequence.grid;
  const MatrixView v = in.exact.op->problem().v;
  if (!grid || v.cols < 3 || grid->prefix + grid->rows * grid->cols > v.rows) return false;
  for (Index i = grid->prefix; i < grid->prefix + grid->rows * grid->cols; ++i)
    for (Index c = 0; c < 3; ++c)
      if (!(v(i, c) >= 0 && v(i, c) <= 1)) return false;
  return true;
}

OutputPicture picture_of(const Matrix& z, const ImageGrid& grid) {
  OutputPicture out{.rows = grid.rows, .cols = grid.cols, .rgb = {}};
  for (Index row = 0; row < grid.rows; ++row)
    for (Index col = 0; col < grid.cols; ++col)
      for (Index c = 0; c < 3; ++c)
        out.rgb.push_back(std::clamp(z(grid.token_of(row, col), c), 0.0f, 1.0f));
  return out;
}

void add_rounding(const PanelInputs& in, ElementType type, Strip& strip, std::string& caption,
                  Run& run) {
  strip.bounds = rounding_budget(*in.exact.op, in.exact.output, type, run);
  strip.bounds_name = "at most by rounding to " + to_text(type);
  Index beyond = 0;
  for (std::size_t i = 0; i < strip.values.size(); ++i)
    beyond += !(strip.values[i] <= strip.bounds[i]);
  add(caption, beyond == 0 ? "rounding to " + to_text(type) + " can explain every row"
                           : plural(beyond, "row") + " beyond what rounding to " + to_text(type) +
                                 " can explain");
}

Body output(const PanelInputs& in, std::string& caption, Run& run) {
  run.check();
  if (!in.exact.op->problem().has_values())
    return Message{"There are no outputs Z = P V: " + std::string(no_values) + "."};
  if (!in.computation.applied() || !in.exact.applied())
    return Message{"Z is not computed yet: only P is known, as far as it is looked at."};
  const Matrix &z = in.computation.output.z, &reference = in.exact.output.z;
  if (shows_colours(in)) {
    add(caption, "mean colour of each patch of Z");
    return picture_of(z, *in.sequence.grid);
  }
  if (is_exact(in)) return error_of_exact(in);
  Strip strip{.values = {}, .quantity = "|z̃ᵢ − zᵢ|"};
  for (Index i = 0; i < z.rows(); ++i) {
    double sum = 0;
    for (Index c = 0; c < z.cols(); ++c) {
      const double difference = static_cast<double>(z(i, c)) - static_cast<double>(reference(i, c));
      sum += difference * difference;
    }
    strip.values.push_back(std::isfinite(sum) ? static_cast<float>(std::sqrt(sum)) : NAN);
  }
  if (const auto* imported = in.computation.op->plan().as<ImportedPlan>();
      imported && !imported->result->z.empty())
    add_rounding(in, imported->result->type, strip, caption, run);
  const auto rank = [](float error) { return std::isnan(error) ? -1 : error; };
  const auto worst = std::ranges::max_element(strip.values, {}, rank);
  const Index token = worst - strip.values.begin();
  const Index odd = std::ranges::count_if(strip.values, [](float x) { return std::isnan(x); });
  if (odd < std::ssize(strip.values))
    add(caption, "largest " + format_number(*worst) + " at " + named(in.sequence, token));
  if (odd > 0) add(caption, "not defined in " + plural(odd, "row"));
  return strip;
}

}  // namespace
}  // namespace fovea::views

namespace fovea {

ViewKind output_view() {
  return {.id = "output",
          .label = "Output",
          .meaning = "The output z of each query, and how far the approximation is from it.",
          .make = views::output,
          .needs_exact = true,
          .needs_outputs = true};
}

}  // namespace fovea
