// Hand-made models for the canvas: every kind of body, any length.
#pragma once

#include <cmath>
#include <limits>
#include <memory>

#include "canvas/canvas.h"
#include "views/views.h"

namespace fovea {

inline Raster heat(Index n, Index pixels) {
  Raster raster;
  raster.values = Matrix(pixels, pixels);
  raster.rows = raster.cols = {0, n};
  raster.pooled = pixels < n ? Pool::Kind::max : Pool::Kind::none;
  raster.norm = Norm::log;
  raster.low = 1e-5, raster.high = 0.4;
  raster.quantity = "attention weight P";
  for (Index i = 0; i < pixels; ++i)
    for (Index j = 0; j < pixels; ++j) {
      const double gap = std::abs(static_cast<double>(i - j)) / static_cast<double>(pixels);
      const double wave = 0.5 + 0.5 * std::sin(0.9 * static_cast<double>(j));
      raster.values(i, j) =
          static_cast<float>(0.4 * std::exp(-14 * gap) * (i == j ? 1 : 0.05 + 0.5 * wave));
    }
  return raster;
}

inline Raster error_map(Index n, Index pixels) {
  Raster raster = heat(n, pixels);
  raster.palette = Palette::diverging;
  raster.norm = Norm::linear;
  raster.low = -0.03, raster.high = 0.03;
  raster.quantity = "error, signed";
  for (Index i = 0; i < pixels; ++i)
    for (Index j = 0; j < pixels; ++j)
      raster.values(i, j) = static_cast<float>(0.05 * raster.values(i, j) *
                                               std::cos(static_cast<double>(3 * i + 7 * j)));
  return raster;
}

inline Raster mask_map(Index n, Index pixels) {
  Raster raster = heat(n, pixels);
  raster.palette = Palette::categories;
  raster.categories = {"empty", "partial", "full"};
  raster.quantity = "tiles";
  raster.low = 0, raster.high = 2;
  for (Index i = 0; i < pixels; ++i)
    for (Index j = 0; j < pixels; ++j)
      raster.values(i, j) = i / 4 == j / 4 ? 2.0f : j % 8 == 7 ? 1.0f : 0.0f;
  return raster;
}

inline BlockMap ranks(Index n) {
  BlockMap blocks;
  blocks.map.lengths = {n, n};
  blocks.quantity = "numerical rank of P at ε = 0.01";
  const auto split = [&](auto&& self, IndexRange rows, IndexRange cols, bool diagonal) -> void {
    const Index size = rows.size();
    if (!diagonal || size <= std::max<Index>(n / 16, 1)) {
      const int rank =
          static_cast<int>(diagonal ? size : std::max<Index>(1, size / (2 + size % 3)));
      blocks.map.blocks.push_back({rows, cols, 0, rank, {}});
      return;
    }
    const Index half = size / 2;
    const IndexRange r0{rows.begin, rows.begin + half}, r1{rows.begin + half, rows.end};
    const IndexRange c0{cols.begin, cols.begin + half}, c1{cols.begin + half, cols.end};
    self(self, r0, c0, true), self(self, r1, c1, true), self(self, r0, c1, false),
        self(self, r1, c0, false);
  };
  split(split, {0, n}, {0, n}, true);
  return blocks;
}

inline LeafSizes leaves(Index n, int height) {
  LeafSizes out;
  out.kind = "leaf";
  for (int l = 0; l < (1 << height); ++l) {
    out.queries.push_back(n / (1 << height) + (l * 7) % 5);
    out.keys.push_back(n / (1 << height) + (l * 3) % 4);
  }
  out.branching.assign(static_cast<std::size_t>(height), 2);
  out.figures = {{"chi", "Collision fraction χ", 0.0651, ""},
                 {"effective_leaves", "Effective leaves", 15.4, ""}};
  return out;
}

inline RowCurve row_curve(Index n) {
  RowCurve row;
  row.query = n / 3;
  row.keys = {0, n};
  for (Index j = 0; j < n; ++j) {
    const double x = 40.0 * static_cast<double>(j - n / 3) / static_cast<double>(n);
    row.exact.push_back(static_cast<float>(0.3 * std::exp(-x * x / 4) +
                                           0.02 * (1 + std::sin(static_cast<double>(j)))));
    row.approximate.push_back(row.exact.back() * (0.8f + 0.1f * static_cast<float>(j % 5)));
  }
  return row;
}

inline OutputPicture picture() {
  OutputPicture out;
  out.rows = out.cols = 24;
  for (int i = 0; i < 24 * 24; ++i)
    for (const float v : {static_cast<float>(i % 24) / 24, static_cast<float>(i / 24) / 24, 0.4f})
      out.rgb.push_back(v);
  return out;
}

inline CanvasCell cell_of(decltype(Panel::body) body,
                          const char* caption = "density 0.23; 8 full, 56 partial tiles") {
  auto panel = std::make_shared<Panel>();
  panel->caption = caption;
  panel->body = std::move(body);
  return {panel, false, ""};
}

inline std::shared_ptr<CanvasModel> base_model(Index n, int columns) {
  auto model = std::make_shared<CanvasModel>();
  static const char* const titles[] = {"Exact",
                                       "H-Transformer-1D",
                                       "Fixed factorized",
                                       "TF tree attention",
                                       "HyperAttention",
                                       "Strided",
                                       "TC",
                                       "Reformer"};
  for (int c = 0; c < columns; ++c) {
    model->column_titles.push_back(titles[c % 8]);
    model->column_subtitles.push_back(c ? "block 16, output error 0.275"
                                        : "softmax, streaming, reference");
  }
  static const char* const words[] = {"the",        "eye",   "sees",  "sharply", "only", "where",
                                      "it",         "looks", ";",     "around",  "that", "point",
                                      "everything", "is",    "softĠ", "∂α"};
  Sequence sequence;
  for (Index i = 0; i < n; ++i) sequence.tokens.push_back(words[i % 16]);
  model->sequence = model->key_sequence = std::make_shared<const Sequence>(std::move(sequence));
  model->exact_columns.assign(model->column_titles.size(), 0);
  model->lengths = {n, n};
  model->viewport = {0, static_cast<double>(n), 0, static_cast<double>(n)};
  return model;
}

/// Heatmap, error, mask rows.
inline std::shared_ptr<CanvasModel> matrix_model(Index n, int columns) {
  auto model = base_model(n, columns);
  const Index pixels = std::min<Index>(n, 512);
  model->views = {find_view("heatmap"), find_view("error"), find_view("mask")};
  model->cells.resize(3);
  for (int c = 0; c < columns; ++c) {
    model->cells[0].push_back(cell_of(heat(n, pixels), "max-pooled where a pixel covers more"));
    model->cells[1].push_back(cell_of(c ? decltype(Panel::body)(error_map(n, pixels))
                                        : Message{"The reference has no error against itself."},
                                      ""));
    model->cells[2].push_back(cell_of(mask_map(n, pixels)));
  }
  return model;
}

/// One of each body and state.
inline std::shared_ptr<CanvasModel> gallery_model(Index n) {
  auto model = base_model(n, 4);
  model->views = {find_view("rank"), find_view("row"), find_view("cost")};
  model->cells.resize(3);
  const FigureTable costs{{{"multiply-adds", "33.6 M"},
                           {"against exact", "0.25"},
                           {"bytes moved", "1.2 MiB"},
                           {"peak memory", "4.1 MiB"}}};
  model->cells[0] = {cell_of(ranks(n)), cell_of(heat(n, std::min<Index>(n, 256))),
                     cell_of(picture()),
                     CanvasCell{nullptr, false, "computing 42 %, 3 s left", false, 0.42}};
  model->cells[0][1].stale = true;
  model->cells[0][1].status = "computing 42 %, 3 s left";
  model->cells[0][1].progress = 0.42;
  model->cells[1] = {
      cell_of(row_curve(n)), cell_of(leaves(n, 4)),
      cell_of(Strip{std::vector<float>(row_curve(n).exact), "output error |z\u0303 \u2212 z|"}),
      CanvasCell{nullptr, false, "error: q is [8, 3], k is [8, 2]; expected same d", true}};
  model->cells[2] = {
      cell_of(costs, ""), cell_of(leaves(n, 2)),
      cell_of(Message{"Rank maps need logits; this source holds an attention matrix alone."}, ""),
      cell_of(costs, "")};
  model->selected_column = 1;
  return model;
}

}  // namespace fovea
