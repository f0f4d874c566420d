#include "backend/product.h"

#include <algorithm>

#include "backend/padded.h"

namespace fovea {
namespace {

constexpr Index strip = isa::usual_lanes;  // rows of a that go through b together
constexpr Index piece = 2048;              // terms of one sum
constexpr Index panel = 256;               // columns of b whose rows stay in the cache

// If there are few results of long sums, pieces of the sums are turns of their own, and are added
// in order.
bool in_pieces(Index rows, Index width) {
  return rows * width <= Index{1} << 16;
}

// z[row] += a[row, terms] b[terms] for the columns of a panel.
void add_terms(MatrixView a, IndexRange rows, MatrixView b, IndexRange terms, IndexRange cols,
               const isa::Loops& loops, Matrix& z, Index first) {
  alignas(64) float weights[isa::max_keys * strip];
  alignas(64) float ones[strip];
  std::ranges::fill(ones, 1.0f);
  const int count = static_cast<int>(rows.size());
  const int lanes = (count + isa::range_lanes - 1) / isa::range_lanes * isa::range_lanes;
  const float* row[strip];
  float* to[strip];
  for (int r = 0; r < count; ++r) to[r] = z.row(first + rows.begin + r) + cols.begin;
  for (Index begin = terms.begin; begin < terms.end; begin += isa::max_keys) {
    const int keys = static_cast<int>(std::min<Index>(isa::max_keys, terms.end - begin));
    const float* values[isa::max_keys];
    for (int r = 0; r < count; ++r) row[r] = a.row(rows.begin + r) + begin;
    for (int k = 0; k < keys; ++k) values[k] = b.row(begin + k) + cols.begin;
    loops.pack(row, count, lanes, keys, 1.0f, weights);
    loops.accumulate({.s = weights,
                      .lanes = lanes,
                      .count = count,
                      .keys = keys,
                      .live = nullptr,
                      .values = values,
                      .rescale = ones,
                      .from = to,
                      .z = to},
                     static_cast<int>(cols.size()));
  }
}

}  // namespace

Matrix product(MatrixView a, MatrixView b, const isa::Loops& loops, Workers& workers,
               const std::stop_token& stop) {
  const Padded wide(b);
  const Index width = wide.width(), strips = (a.rows + strip - 1) / strip,
              panels = (width + panel - 1) / panel;
  const bool split = in_pieces(a.rows, width);
  const Index pieces = split ? std::max<Index>(1, (a.cols + piece - 1) / piece) : 1;
  Matrix sums = Matrix::padded(pieces * a.rows, b.cols);
  workers.loop(strips * panels * pieces, stop, [&](Index turn, int) {
    const Index p = turn % pieces, c = turn / pieces % panels, s = turn / pieces / panels;
    const IndexRange terms =
        split ? IndexRange{p * piece, std::min((p + 1) * piece, a.cols)} : IndexRange{0, a.cols};
    add_terms(a, {s * strip, std::min((s + 1) * strip, a.rows)}, wide.view, terms,
              {c * panel, std::min((c + 1) * panel, width)}, loops, sums, p * a.rows);
  });
  if (pieces == 1) return sums;
  Matrix out = Matrix::padded(a.rows, b.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (Index p = 0; p < pieces; ++p)
      for (Index j = 0; j < b.cols; ++j) out(i, j) += sums(p * a.rows + i, j);
  return out;
}

void add_product(MatrixView a, MatrixView b, IndexRange cols, const isa::Loops& loops, Matrix& z,
                 Index first) {
  for (Index begin = 0; begin < a.rows; begin += strip)
    add_terms(a, {begin, std::min(begin + strip, a.rows)}, b, {0, a.cols}, cols, loops, z, first);
}

double product_sums(Index rows, Index width, Index terms) {
  const double pieces =
      in_pieces(rows, width) ? 1 + static_cast<double>(terms) / static_cast<double>(piece) : 0;
  return static_cast<double>(rows * width) * (1 + pieces);
}

}  // namespace fovea
