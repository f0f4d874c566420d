#include "panels/compared_panel.h"

#include <algorithm>

#include "data/pixels.h"

namespace fovea {
namespace {

double middle(IndexRange tokens) {
  return (double(tokens.begin) + double(tokens.end)) / 2;
}

/// Whether a pair is of the first panel.
bool is_first(double query, double key, const std::optional<WipeBorder>& border) {
  return border ? key < border->key : key >= query;
}

/// A number of one of two rasters of the same tokens, at a pixel of the finer raster.
float number(const Matrix& of, Index r, Index c, Index rows, Index cols) {
  return of(pixel_of(r, rows, of.rows()), pixel_of(c, cols, of.cols()));
}

std::optional<Raster> compared(const Raster& first, const Raster& second,
                               const std::optional<WipeBorder>& border) {
  if (first.rows != second.rows || first.cols != second.cols || first.values.empty() ||
      second.values.empty() || first.palette != second.palette || first.norm != second.norm ||
      first.quantity != second.quantity || first.categories != second.categories ||
      first.pooled != second.pooled)
    return {};
  Raster both = first;
  const Index rows = std::max(first.values.rows(), second.values.rows()),
              cols = std::max(first.values.cols(), second.values.cols());
  const bool errors = !first.standard_error.empty() || !second.standard_error.empty();
  both.values = Matrix(rows, cols);
  both.standard_error = errors ? Matrix(rows, cols) : Matrix();
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      const IndexRange queries = pixel_tokens(r, first.rows, rows),
                       keys = pixel_tokens(c, first.cols, cols);
      const bool of_first = is_first(middle(queries), middle(keys), border);
      const Raster& of = of_first ? first : second;
      both.values(r, c) = number(of.values, r, c, rows, cols);
      if (errors)
        both.standard_error(r, c) =
            of.standard_error.empty() ? 0 : number(of.standard_error, r, c, rows, cols);
    }
  both.low = std::min(first.low, second.low);
  both.high = std::max(first.high, second.high);
  both.estimated = std::max(first.estimated, second.estimated);
  both.complete = first.complete && second.complete;
  return both;
}

std::optional<BlockMap> compared(const BlockMap& first, const BlockMap& second,
                                 const std::optional<WipeBorder>& border) {
  if (first.map.lengths != second.map.lengths || first.quantity != second.quantity) return {};
  BlockMap both = first;
  both.map.blocks.clear();
  const auto take = [&](const BlockMap& of, bool wanted) {
    for (const RankBlock& block : of.map.blocks)
      if (is_first(middle(block.rows), middle(block.cols), border) == wanted)
        both.map.blocks.push_back(block);
  };
  take(first, true);
  take(second, false);
  return both;
}

std::optional<OutputPicture> compared(const OutputPicture& first, const OutputPicture& second,
                                      const std::optional<WipeBorder>& border) {
  if (first.rows != second.rows || first.cols != second.cols) return {};
  OutputPicture both = first;
  for (Index r = 0; r < both.rows; ++r)
    for (Index c = 0; c < both.cols; ++c) {
      const double down = (double(r) + 0.5) / double(both.rows),
                   across = (double(c) + 0.5) / double(both.cols);
      if (border ? across >= border->share : across < down)
        std::copy_n(second.rgb.begin() + 3 * (r * both.cols + c), 3,
                    both.rgb.begin() + 3 * (r * both.cols + c));
    }
  return both;
}

}  // namespace

std::optional<Panel> compared_panel(const Panel& first, const Panel& second,
                                    const std::optional<WipeBorder>& border) {
  Panel both = first;
  const auto compose = [&]<class Body>(const Body& body) {
    const auto* other = std::get_if<Body>(&second.body);
    auto composed = other ? compared(body, *other, border) : std::nullopt;
    if (composed) both.body = *std::move(composed);
    return composed.has_value();
  };
  bool can = false;
  if (const auto* raster = std::get_if<Raster>(&first.body)) can = compose(*raster);
  if (const auto* blocks = std::get_if<BlockMap>(&first.body)) can = compose(*blocks);
  if (const auto* picture = std::get_if<OutputPicture>(&first.body)) can = compose(*picture);
  return can ? std::optional(both) : std::nullopt;
}

}  // namespace fovea
