// A view that only the tests have, to show what a view takes: one file, with its settings and its
// row of the table. Nothing in core or app knows it.
//
// Toy view: each weight of P times the distance between query and key, to a power.
#include "toy/toy_view.h"

#include <cmath>

#include "views/parts.h"

namespace fovea::test {
namespace {

enum class Side { both, before, after };  // of the query

struct ToySettings {
  Side side = Side::both;
  double power = 1;
  Index nearest = 1;

  static std::vector<TypedViewField<ToySettings>> fields() {
    using S = ToySettings;
    return {{choice_field<S>("toy_side", "Side", &S::side, {"both", "before", "after"},
                             "Which keys count"),
             "Toy si&de",
             {{"both", "both sides"}, {"before", "keys before"}, {"after", "keys after"}}},
            {real_field<S>("toy_power", "Power", "", &S::power, 0, 4, Axis::linear,
                           "The power of the distance"),
             "Toy po&wer"},
            {size_field<S>("toy_nearest", "Nearest", "tokens", &S::nearest, 0, 128,
                           "Keys that are nearer count as this far", views::sixteenth),
             "Toy nea&rest"}};
  }
};

ViewKind::Body make_toy(const PanelInputs& in, std::string& caption, Run& run) {
  const auto settings = read_settings<ToySettings>(in.settings);
  const views::Grid grid(in.rows, in.cols, in.max_pixels);
  Raster raster;
  raster.rows = in.rows;
  raster.cols = in.cols;
  raster.quantity = "toy distance";
  raster.values = in.computation.op->tile(in.rows, in.cols, grid.pool(in.settings.pool), run);
  for (Index r = 0; r < raster.values.rows(); ++r)
    for (Index c = 0; c < raster.values.cols(); ++c) {
      const Index by = grid.col_centre(c) - grid.row_centre(r);
      const bool counts =
          settings.side == Side::both || (settings.side == Side::before ? by <= 0 : by >= 0);
      const auto far = static_cast<double>(std::max(std::abs(by), settings.nearest));
      raster.values(r, c) *= counts ? static_cast<float>(std::pow(far, settings.power)) : 0;
    }
  views::set_range(raster);
  views::add(caption, "power " + format_number(settings.power));
  return raster;
}

std::string toy_words(const Raster&, double value) {
  return "toy distance of " + format_number(value);
}

}  // namespace

ViewKind toy_view() {
  return {.id = "toy",
          .label = "Toy distance",
          .meaning = "How far a key is from its query.",
          .make = make_toy,
          .needs_entries = true,
          .uses_pooling = true,
          .has_norm = true,
          .value_words = toy_words,
          .fields = fields_of<ToySettings>()};
}

}  // namespace fovea::test
