// The states of pairs that the view of a selection shows, held against P and the head's conditions.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include "laws/formulas.h"
#include "views/views.h"

namespace fovea::test {

inline Raster selection_of(const Instance& x, IndexRange rows, IndexRange cols, Index pixels) {
  const Computation computation{
      .variant = x.variant,
      .values = x.values,
      .op = std::shared_ptr<const Operator>(std::shared_ptr<void>(), x.bound.get())};
  const Sequence sequence;
  const ViewSettings settings;
  Profile profile;
  Run run{profile};
  const Panel panel = make_panel(find_view("selection"),
                                 {.computation = computation,
                                  .exact = computation,
                                  .backend = *backends().front(),
                                  .sequence = sequence,
                                  .settings = settings,
                                  .rows = rows,
                                  .cols = cols,
                                  .max_pixels = pixels},
                                 run);
  return std::get<Raster>(panel.body);
}

/// Pair by pair, in pixels of several pairs, and of a part of the head.
inline void check_states(const Instance& x) {
  const Index queries = x.problem.queries(), keys = x.problem.keys();
  const Matrix p = x.all();
  const IndexRange all_rows{0, queries}, all_cols{0, keys}, some_rows{queries / 3, queries},
      some_cols{keys / 4, keys - keys / 5};
  for (const auto& [rows, cols, pixels] : {std::tuple{all_rows, all_cols, Index{512}},
                                           {all_rows, all_cols, Index{7}},
                                           {some_rows, some_cols, Index{5}}}) {
    const Raster raster = selection_of(x, rows, cols, pixels);
    const Index down = raster.rows.size() / raster.values.rows(),
                across = raster.cols.size() / raster.values.cols();
    CHECK(std::max(raster.values.rows(), raster.values.cols()) <= pixels);
    Index wrong = 0;
    for (Index r = 0; r < raster.values.rows(); ++r)
      for (Index c = 0; c < raster.values.cols(); ++c) {
        const Index top = rows.begin + r * down, left = cols.begin + c * across;
        double picked = 0, available = 0;
        for (Index i = top; i < std::min(top + down, rows.end); ++i)
          for (Index j = left; j < std::min(left + across, cols.end); ++j) {
            available += sees(x.problem, i, j);
            picked += p(i, j) != 0;
          }
        const float shown = raster.values(r, c);
        wrong += available > 0 ? shown != static_cast<float>(picked / available)
                               : !(std::isinf(shown) && shown < 0);
      }
    CHECK(wrong == 0);
  }
}

}  // namespace fovea::test
