// What holds for pairs that somebody draws, on every back end: P is the softmax over them, and any
// plan can be drawn in whole blocks.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "analysis/support.h"
#include "data/blocks.h"
#include "laws/kept_pairs.h"
#include "laws/operator_cases.h"
#include "variants/drawn.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Plan drawn_plan(const Backend& backend, const Problem& problem, const std::string& pairs) {
  return *make_plan(backend, problem, "drawn", {{"pairs", pairs}});
}

std::vector<bool> mask_of(const DrawnPairs& pairs, Lengths lengths) {
  std::vector<bool> mask(static_cast<std::size_t>(lengths.queries * lengths.keys));
  for (const DrawnRows& rows : pairs.rows(lengths))
    for (const IndexRange& keys : rows.keys)
      for (Index i = rows.queries.begin; i < rows.queries.end; ++i)
        for (Index j = keys.begin; j < keys.end; ++j)
          mask[static_cast<std::size_t>(i * lengths.keys + j)] = true;
  return mask;
}

}  // namespace

TEST_CASE("law: P of drawn pairs is the softmax over those that the head admits") {
  for (const auto& backend : backends())
    for (const Problem& problem : heads_that_keep_pairs())
      for (const std::string text : {"", "all", "all !3-20/0-9 !33/0-200",
                                     "0-29/0-40 !10-19/5-11 "
                                     "12/7 50-200/30-31"}) {
        CAPTURE(text);
        const auto plan = std::make_shared<const Plan>(drawn_plan(*backend, problem, text));
        Profile profile;
        Run run{profile};
        const auto op = backend->bind(plan, problem, run);
        const Matrix p = op->tile({0, problem.queries()}, {0, problem.keys()}, run);
        const std::vector<bool> mask = mask_of(DrawnPairs::from_text(text), problem.lengths());
        const std::vector<double> truth = softmax_over(problem, [&](Index i, Index j) {
          return mask[static_cast<std::size_t>(i * problem.keys() + j)];
        });
        double worst = 0;
        for (Index i = 0; i < problem.queries(); ++i)
          for (Index j = 0; j < problem.keys(); ++j)
            worst =
                larger_error(worst, static_cast<double>(p(i, j)) -
                                        truth[static_cast<std::size_t>(i * problem.keys() + j)]);
        // Logits of up to 10 have errors of 10 eps in float32, which exp passes on.
        CHECK(worst < 2e-6);
        CHECK_NOTHROW(check_disjoint(*plan));
      }
}

TEST_CASE("law: any plan is drawn in the whole blocks that it touches, within the head") {
  const Backend& backend = *backends().front();
  for (const Problem& problem : heads_that_keep_pairs())
    for (const Variant& variant : variants()) {
      if (!variant.refusal(problem).empty()) continue;
      const auto plan = make_plan(backend, problem, variant.id, {});
      const Support support(*plan);
      for (const Lengths block : {Lengths{16, 16}, Lengths{32, 8}, Lengths{1, 1}}) {
        INFO(variant.id << " " << problem.lengths().text() << " block " << block.queries);
        const std::vector<bool> drawn = mask_of(drawn_from(*plan, block), problem.lengths());
        const Index cols = number_of_blocks(problem.keys(), block.keys);
        std::vector<bool> blocks(
            static_cast<std::size_t>(number_of_blocks(problem.queries(), block.queries) * cols));
        const auto block_at = [&](Index i, Index j) {
          return static_cast<std::size_t>(i / block.queries * cols + j / block.keys);
        };
        for (Index i = 0; i < problem.queries(); ++i)
          support.for_parts(i, {0, problem.keys()}, [&](const Support::Part& part) {
            for (Index j = part.keys.begin; j < part.keys.end; ++j)
              if (is_admissible(*plan, i, j)) blocks[block_at(i, j)] = true;
          });
        bool same = true;
        for (Index i = 0; i < problem.queries(); ++i)
          for (Index j = 0; j < problem.keys(); ++j)
            if (problem.band().contains(i, j))
              same &=
                  drawn[static_cast<std::size_t>(i * problem.keys() + j)] == blocks[block_at(i, j)];
        CHECK(same);
      }
    }
}
