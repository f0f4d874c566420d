// Values as the loops of the CPU back end read them: whole vectors of each row.
#pragma once

#include <algorithm>

#include "backend/operator_need.h"

namespace fovea {

/// The rows themselves, or a copy with padding where their width is no multiple of 16.
struct Padded {
  Matrix copy;
  MatrixView view;

  explicit Padded(MatrixView v) : view(v) {
    if (v.cols % 16 == 0) return;
    copy = Matrix::padded(v.rows, v.cols);
    for (Index i = 0; i < v.rows; ++i) std::copy_n(v.row(i), v.cols, copy.row(i));
    view = copy;
  }
  /// Bytes of the copy.
  static double need(Index rows, Index cols) {
    return cols % 16 == 0 ? 0 : float_size * as_double(rows) * as_double(padded_width(cols));
  }
  bool is_copy() const { return !copy.empty(); }
  Index width() const { return padded_width(view.cols); }
};

}  // namespace fovea
