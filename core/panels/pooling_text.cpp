#include "panels/pooling_text.h"

#include <algorithm>

#include "data/number_text.h"

namespace fovea {

const std::string peaks_text = "dots: largest entries";

std::string pooling_text(const std::string& how, double down, double across) {
  if (down * across <= 1) return "";
  return how + " of " + format_drawn(down) + " × " + format_drawn(across);
}

std::string pooling_text(Pool::Kind kind, double down, double across) {
  if (kind == Pool::Kind::none) return "";
  return pooling_text(kind == Pool::Kind::max ? "max" : "mean", down, across);
}

std::string pooling_text(const Raster& raster) {
  const auto each = [](Index tokens, Index numbers) {
    return double(tokens) / double(std::max<Index>(1, numbers));
  };
  return pooling_text(raster.pooled, each(raster.rows.size(), raster.values.rows()),
                      each(raster.cols.size(), raster.values.cols()));
}

std::string caption_with_pooling(const Panel& panel) {
  const auto* raster = std::get_if<Raster>(&panel.body);
  std::string pooling = raster ? pooling_text(*raster) : "";
  if (raster && !raster->peaks.empty()) pooling += ", " + peaks_text;
  return pooling + (pooling.empty() || panel.caption.empty() ? "" : " · ") + panel.caption;
}

}  // namespace fovea
