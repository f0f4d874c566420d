// The error of P.
#include <cmath>
#include <utility>

#include "analysis/error_map.h"
#include "panels/error_kind.h"
#include "views/own_settings.h"
#include "views/parts.h"

namespace fovea::views {
namespace {

// The difference that is pooled; a logarithm is taken of the pixels.
Difference difference_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::signed_difference:
      return Difference::signed_difference;
    case ErrorKind::relative:
      return Difference::relative;
    case ErrorKind::squared:
      return Difference::squared;
    case ErrorKind::absolute:
    case ErrorKind::log10_absolute:
      break;
  }
  return Difference::absolute;
}

struct ErrorSettings {
  ErrorKind kind = ErrorKind::signed_difference;

  static std::vector<TypedViewField<ErrorSettings>> fields() {
    TypedViewField<ErrorSettings> kind{
        choice_field<ErrorSettings>("error", "Error", &ErrorSettings::kind,
                                    {"signed", "absolute", "squared", "relative", "log10"},
                                    "What the error row shows"),
        "&Error",
        {{"signed", "signed"},
         {"absolute", "absolute"},
         {"squared", "squared"},
         {"relative", "relative"},
         {"log10", "log10 of absolute"}}};
    kind.key = "E";
    kind.key_text = "Next kind of error";
    return {kind};
  }
};

MapPixels error_map(const Computation& approximate, const Computation& exact,
                    const ViewSettings& settings) {
  return
      [approximate = approximate.op, exact = exact.op, its = difference_of(error_kind(settings))](
          IndexRange rows, IndexRange cols, Pool pool, Run& run) {
        return error_pixels(*approximate, *exact, its, rows, cols, pool, run);
      };
}

Body error(const PanelInputs& in, std::string& caption, Run& run) {
  if (is_exact(in)) return error_of_exact(in);
  const ErrorKind kind = error_kind(in.settings);
  const Grid grid = grid_of(in);
  Raster raster;
  raster.rows = grid.rows;
  raster.cols = grid.cols;
  MapPyramid::Pixels pixels;
  const Pool pool = grid.pool(in.settings.pool, pixels.largest);
  raster.pooled = pool.kind;
  raster.quantity = quantity_of(kind);
  if (in.map) {
    pixels = take_picture(*in.map, in, raster, caption);
  } else {
    pixels.values = error_pixels(*in.computation.op, *in.exact.op, difference_of(kind), in.rows,
                                 in.cols, pool, run);
  }
  raster.values = std::move(pixels.values);
  if (kind == ErrorKind::log10_absolute) {
    raster.standard_error = {};
    for (Index r = 0; r < grid.down; ++r)
      for (Index c = 0; c < grid.across; ++c)
        raster.values(r, c) = static_cast<float>(logged(static_cast<double>(raster.values(r, c))));
  } else {
    raster.peaks = peaks_of(pixels.largest);  // logarithms of errors have no largest magnitude
  }
  set_range(raster);
  if (kind == ErrorKind::signed_difference || kind == ErrorKind::relative) {
    raster.palette = Palette::diverging;
    raster.high = std::max(std::abs(raster.low), std::abs(raster.high));
    raster.low = -raster.high;
    // On a linear scale a few large errors would leave all others white.
    if (in.settings.norm == Norm::log) raster.norm = Norm::log;
  } else if (kind != ErrorKind::log10_absolute && in.settings.norm == Norm::log) {
    raster.norm = Norm::log;
  }
  if (in.metrics && in.metrics->attention_rel_fro.value > 0)
    add(caption, "relative error of P " +
                     format_number(in.metrics->attention_rel_fro.value, 3, Zeros::keep) +
                     (in.metrics->sampled()
                          ? " ± " + format_number(in.metrics->attention_rel_fro.standard_error)
                          : ""));
  return raster;
}

}  // namespace
}  // namespace fovea::views

namespace fovea {

ErrorKind error_kind(const ViewSettings& settings) {
  return read_settings<views::ErrorSettings>(settings).kind;
}

ViewKind error_view() {
  return {.id = "error",
          .label = "Error",
          .meaning =
              "What an approximation gives each pair too much or too little: P̃ − P. A strip beside "
              "it has the output error of each query.",
          .make = views::error,
          .needs_exact = true,
          .needs_entries = true,
          .metrics = ViewKind::Uses::on_maps,
          .uses_pooling = true,
          .zero_of_exact = true,
          .has_token_errors = true,
          .has_norm = true,
          .has_keys = true,
          .has_colours = true,
          .hover_name = "error",
          .map = views::error_map,
          .at_first = ViewKind::AtFirst::always,
          .fields = fields_of<views::ErrorSettings>()};
}

}  // namespace fovea
