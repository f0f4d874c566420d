// Features as two softmaxes, against the operator that sums features, and its entries.
#include "backend/factored_operator.h"

#include <doctest/doctest.h>

#include <cmath>

#include "data/pixels.h"
#include "harness.h"
#include "larger_error.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("features: two softmaxes give the output, row sums and entries of sums of features") {
  for (const char* id : {"performer", "linear"})
    for (const Index n : {1, 7, 70, 300}) {
      const Problem problem = make_data(Data::gaussian, n, 9, 5, false);
      const Backend& backend = *backends().front();
      const Settings settings =
          std::string(id) == "performer" ? Settings{{"features", "48"}} : Settings{};
      const Instance sums = make_instance(backend, problem, id, settings);
      Profile profile;
      Run run{profile};
      const auto factored = make_factored_operator(
          sums.plan, problem, backend,
          [&](MatrixView a, MatrixView b, Run& its) { return backend.product(a, b, its); }, run);
      CAPTURE(id);
      CAPTURE(n);
      const Output expected = sums.apply(problem.v), found = factored->apply(problem.v, run);
      const Matrix p = sums.all();
      double z = 0, lse = 0, entry = 0, rectangle = 0;
      for (Index i = 0; i < n; ++i) {
        lse = larger_error(lse, found.lse[static_cast<std::size_t>(i)] -
                                    expected.lse[static_cast<std::size_t>(i)]);
        for (Index c = 0; c < 5; ++c) z = larger_error(z, found.z(i, c) - expected.z(i, c));
      }
      const Matrix all = factored->tile({0, n}, {0, n}, run);
      const IndexRange rows{n / 3, n}, cols{n / 2, n};
      const Matrix part = factored->tile(rows, cols, run);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
          entry = larger_error(entry, all(i, j) - p(i, j));
          if (rows.contains(i) && cols.contains(j))
            rectangle = larger_error(rectangle, part(i - rows.begin, j - cols.begin) - all(i, j));
        }
      // Logits of up to 30 are rounded in both, and so are up to 300 weights and values of up to 5.
      CHECK(lse <= 32 * 0x1p-23 * 4);
      CHECK(z <= 5 * 32 * 0x1p-23 * 8);
      CHECK(entry <= 32 * 0x1p-23 * 8);
      CHECK(rectangle <= 4 * 0x1p-23);
      // Pixels of an uneven grid are those of the entries.
      const Index down = std::min<Index>(n, 5), across = std::min<Index>(n, 11);
      for (const Pool::Kind kind : {Pool::Kind::max, Pool::Kind::mean}) {
        const Matrix pixels = factored->tile({0, n}, {0, n}, {kind, down, across}, run);
        double worst = 0;
        for (Index r = 0; r < down; ++r)
          for (Index c = 0; c < across; ++c) {
            const IndexRange i = pixel_tokens(r, {0, n}, down), j = pixel_tokens(c, {0, n}, across);
            double most = 0, sum = 0;
            for (Index a = i.begin; a < i.end; ++a)
              for (Index b = j.begin; b < j.end; ++b) {
                most = std::max(most, static_cast<double>(all(a, b)));
                sum += static_cast<double>(all(a, b));
              }
            const double expected_pixel =
                kind == Pool::Kind::max ? most : sum / static_cast<double>(i.size() * j.size());
            worst = larger_error(worst, static_cast<double>(pixels(r, c)) - expected_pixel);
          }
        CHECK(worst <= 4 * 0x1p-23);
      }
    }
}
