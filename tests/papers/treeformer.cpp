// Treeformer's numbers: costs against their formulas, trees against a Trainer and float64.
#include <cmath>
#include <set>

#include "papers/results.h"
#include "reference.h"
#include "variants/learned_tree.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const std::string example = "synthetic:gaussian?n=48&d=8&heads=2";

Problem head_of(Index head) {
  return problem_of(open_source(example), {.head = head});
}

/// The curve of a tree of the default height, learned for the second head of the example.
std::vector<CurvePoint> curve_of(Index bootstrap) {
  const Variant& tf = find_variant("tf");
  const Fit fit = fit_of(tf, defaults(tf.schema));
  const Problem problem = head_of(1);
  LearningOptions options = learning_options(fit.parameters, fit.goal, 0, 1);
  options.bootstrap = bootstrap;
  Profile profile;
  Run run{profile};
  Trainer trainer = make_trainer(fit, options, problem, 0, *backends().front(), run);
  trainer.learn(300, run);
  return trainer.curve();
}

}  // namespace

TEST_CASE("multiply-adds on the arena's shapes follow their formulas, beside those of Table 11") {
  const PaperResult result = result_of("arena-cost", "synthetic:golden");
  for (const double n : {1024.0, 2048.0, 4096.0, 8192.0}) {
    const auto share = [&](const std::string& id) {
      return number(result, "share_" + id + "_" + std::to_string(int(n))).found;
    };
    CHECK(share("exact") == 100);
    // Pairs with |i - j| <= w, cut off at both ends.
    const double w = std::get<std::int64_t>(defaults(find_variant("window").schema)[0]);
    CHECK(share("window") ==
          doctest::Approx(100 * (2 * w + 1 - w * (w + 1) / n) / n).epsilon(1e-12));
    // The levels of h1d hold at most 5 n N_r pairs, and its means add 4 n (d + dv).
    CHECK(share("h1d") < 100 * (5 * 16 + 4) / n);
    CHECK(share("h1d") > 100 * 4 * 16 / n);
    // Height 6, dv = d: n h d to route queries, and keys; n + 2 + 4 + ... + 64 + 1 sums of values,
    // and 7 looked up for each query.
    CHECK(share("tc") ==
          doctest::Approx(100 * (2 * 6 * n + (n + 127) + 7 * n) / (2 * n * n)).epsilon(1e-12));
    // 64 even leaves; those of queries are not quite even.
    CHECK(share("tf") == doctest::Approx(100 * (1.0 / 64 + 6 / n)).epsilon(0.1));
    CHECK(share("linformer") == doctest::Approx(100 * 2 * 128 / n).epsilon(1e-12));
    CHECK(share("performer") == doctest::Approx(100 * 2 * 256 / n).epsilon(0.02));
  }
  CHECK(number(result, "share_tf_1024").published == 41.2);
  CHECK(number(result, "share_tf_2048").published == 37.8);
  CHECK(number(result, "share_tc_8192").published == 0.61);
  CHECK(number(result, "share_performer_4096").published == 14.5);
  CHECK_FALSE(number(result, "share_h1d_4096").published);
  for (const PaperNumber& found : result.numbers)
    CHECK(found.published.has_value() == (found.apart != ""));
}

TEST_CASE("TF with the tree T0 of Lemma 1 is exact, and has all pairs") {
  const PaperResult result = result_of("exact-tree", example);
  const PaperNumber error = number(result, "error_single");
  CHECK(error.published == 0);
  CHECK(error.found <= 48 * 0x1p-23);  // both sums are rounded once a key
  CHECK(number(result, "chi_single").found == 1);
  // w = 0 and b > 0 send all to the right.
  const auto plan = make_plan(*backends().front(), head_of(0), "tf", {{"tree", "single"}});
  for (const char* name : {"query_leaf", "key_leaf"})
    CHECK(std::ranges::all_of(plan->structure.integers(name),
                              [](std::int32_t leaf) { return leaf == 63; }));
  // The median tree's against float64.
  double least = INFINITY, most = 0;
  for (const Index head : {0, 1}) {
    const Problem problem = head_of(head);
    const Instance exact = make_instance(*backends().front(), problem, "exact", {}),
                   median = make_instance(*backends().front(), problem, "tf", {});
    const std::vector<double> z = times(reference<double>(exact), problem.v),
                              tree = times(reference<double>(median), problem.v);
    double squares = 0, all = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      squares += std::pow(tree[i] - z[i], 2);
      all += z[i] * z[i];
    }
    least = std::min(least, std::sqrt(squares / all));
    most = std::max(most, std::sqrt(squares / all));
  }
  // Outputs in float32: a few roundings of 48 terms each.
  CHECK(number(result, "error_median_least").found == doctest::Approx(least).epsilon(1e-5));
  CHECK(number(result, "error_median_most").found == doctest::Approx(most).epsilon(1e-5));
  REQUIRE(result.rows.front().size() == 3);
  const auto entries = [&](std::size_t panel) {
    return std::get<Raster>(result.rows.front()[panel].body).values;
  };
  for (Index i = 0; i < 48; ++i)
    for (Index j = 0; j < 48; ++j)
      CHECK(entries(1)(i, j) == doctest::Approx(entries(0)(i, j)).epsilon(1e-4));
}

TEST_CASE("trees begin with even leaves in every layer, and end with a lower error") {
  Source source = open_source(std::string(FOVEA_ASSETS) + "/minilm/minilm-l6.safetensors");
  source.layers.resize(2);
  const PaperResult result = result_of("leaf-distributions", source);
  REQUIRE(result.rows.size() == 2);  // TF, TC
  for (const auto& row : result.rows) CHECK(row.size() == 2);
  for (const std::string id : {"tf_0", "tf_1", "tc_0", "tc_1"}) {
    CAPTURE(id);
    // 341 keys in 64 leaves: 5 or 6 each.
    CHECK(number(result, "effective_leaves_start_" + id).found > 63);
    CHECK(number(result, "effective_leaves_end_" + id).found < 64);
    CHECK(number(result, "held_out_error_end_" + id).found <
          0.9 * number(result, "held_out_error_start_" + id).found);
  }
}

TEST_CASE("gradient norms are those that learning records, at once and level by level") {
  const PaperResult result = result_of("gradient-norms", example);
  const auto& panel = std::get<CurvePlot>(result.rows.front().front().body);
  REQUIRE(panel.curves.size() == 2);
  for (const std::size_t way : {0, 1}) {
    CAPTURE(way);
    const std::vector<CurvePoint> curve = curve_of(way == 0 ? 0 : 50);
    REQUIRE(curve.size() == 61);
    REQUIRE(panel.curves[way].points.size() == 60);  // there is no gradient before the first step
    double most = 0;
    for (std::size_t p = 1; p < curve.size(); ++p) {
      CHECK(panel.curves[way].points[p - 1].first == double(curve[p].step));
      CHECK(panel.curves[way].points[p - 1].second == curve[p].gradient_norm.value());
      most = std::max(most, curve[p].gradient_norm.value());
    }
    const std::string id = way == 0 ? "at_once" : "bootstrapped";
    CHECK(number(result, "norm_most_" + id).found == most);
    CHECK(number(result, "held_out_error_end_" + id).found == curve.back().held_out_error);
  }
  for (const PaperNumber& found : result.numbers) CHECK_FALSE(found.published);
}

TEST_CASE("speed-ups of trees stand beside those of Table 4 at its lengths alone") {
  const PaperResult result = result_of("tree-time", "synthetic:golden", 512);
  std::set<std::string> ids;
  for (const PaperNumber& found : result.numbers) {
    ids.insert(found.id);
    CHECK(found.found > 0);
    CHECK_FALSE(found.published);
  }
  CHECK(ids ==
        std::set<std::string>{"speed_up_tc_512", "speed_up_tf_512", "speed_up_tf_k_ary_512"});
  CHECK(result.notes[result.notes.size() - 2].find("1 thread") != std::string::npos);
}
