// Pixels that are means of entries of P.
#include <doctest/doctest.h>

#include <cmath>

#include "data/pixels.h"
#include "laws/cases.h"

using namespace fovea;
using namespace fovea::test;

namespace {

double sum_over(const Matrix& entries, IndexRange rows, IndexRange cols) {
  double sum = 0;
  for (Index i = rows.begin; i < rows.end; ++i)
    for (Index j = cols.begin; j < cols.end; ++j) sum += static_cast<double>(entries(i, j));
  return sum;
}

// A mean is rounded three times: where a term is an entry times its number, as a sum, and divided.
void check_means(const Instance& x, Index pixels) {
  const Index n = x.problem.n();
  CAPTURE(n);
  CAPTURE(pixels);
  const Matrix entries = x.all(),
               means = x.tile({0, n}, {0, n}, {Pool::Kind::mean, pixels, pixels});
  double worst = 0;
  for (Index r = 0; r < pixels; ++r)
    for (Index c = 0; c < pixels; ++c) {
      const IndexRange rows = pixel_tokens(r, {0, n}, pixels),
                       cols = pixel_tokens(c, {0, n}, pixels);
      const double mean =
          sum_over(entries, rows, cols) / static_cast<double>(rows.size() * cols.size());
      const double off = std::abs(static_cast<double>(means(r, c)) - mean) / (mean + 0x1p-140);
      worst = larger_error(worst, off);
    }
  CHECK(worst <= 0x1p-22);
}

}  // namespace

// Pixels of so many entries that the sums' words hold terms of 32, 16 and 8 powers of two.
TEST_CASE("cuda: a pixel's mean is that of its entries, however many there are") {
  const Backend& backend = *backends().front();
  for (const char* id : {"exact", "h1d", "hyper"}) {
    CAPTURE(id);
    const Instance x = make_instance(backend, make_data(Data::gaussian, 390, 5, 3, false), id, {});
    for (const Index pixels : {1, 7, 60, 390}) check_means(x, pixels);
  }
  const Problem large = make_data(Data::spike, 600, 8, 3, true);
  check_means(make_instance(backend, large, "exact", {}), 1);
  // 1500 entries that are 1: words for fewer terms would overflow.
  const Problem long_one = make_data(Data::gaussian, 1500, 2, 2, true);
  check_means(make_instance(backend, long_one, "window", {{"width", "1"}}), 1);
}
