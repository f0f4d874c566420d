#include "session/self_test.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "analysis/rounding_budget.h"
#include "backend/stage_names.h"
#include "data/error.h"
#include "data/larger.h"
#include "data/number_text.h"
#include "data/random.h"
#include "learning/leaf_loss.h"
#include "session/session.h"
#include "variants/variant.h"

namespace fovea {
namespace {

constexpr std::uint64_t seed = 1;

struct TestHead {
  Lengths lengths;
  Index d = 64, dv = 64;
  bool causal = false;
  double spread = 1;        // standard deviation of a logit
  bool conditions = false;  // as models have them

  std::string text() const {
    return lengths.text() + ", d = " + std::to_string(d) +
           (dv != d ? ", values " + std::to_string(dv) : "") + (causal ? ", causal" : "") +
           (spread > 1 ? ", peaked" : "") +
           (conditions ? ", with a sliding window, documents, biases, a soft cap and a sink" : "");
  }
};

Matrix normal(Index rows, Index cols, double size, std::uint32_t purpose) {
  Random draw(seed, std::uint64_t{purpose} << 32);
  Matrix out(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index c = 0; c < cols; ++c) out(i, c) = static_cast<float>(size * draw.normal());
  return out;
}

void add_all_conditions(Problem& problem) {
  const auto [queries, keys] = problem.lengths();
  problem.window = keys / 2;
  LogitRule rule;
  rule.soft_cap = 20;
  rule.sink = 0.5;
  for (Index place = 0; place < queries + keys - 1; ++place)
    rule.by_distance.push_back(-0.01f * static_cast<float>(std::abs(place - keys + 1)));
  for (Index j = 0; j < keys; ++j) rule.by_key.push_back(static_cast<float>(j % 3) - 1);
  problem.rule = std::make_shared<const LogitRule>(std::move(rule));
  const auto documents = [](Index count) {
    std::vector<std::int32_t> of(count);
    for (Index i = 0; i < count; ++i) of[i] = static_cast<std::int32_t>(3 * i / count);
    return of;
  };
  problem.mask = std::make_shared<const PairMask>(documents(queries), documents(keys), BitMatrix());
}

Problem problem_of(const TestHead& head) {
  const double size = std::sqrt(head.spread);  // of q and of k
  Problem problem = make_problem(normal(head.lengths.queries, head.d, size, 1),
                                 normal(head.lengths.keys, head.d, size, 2),
                                 normal(head.lengths.keys, head.dv, 1, 3), 0, head.causal);
  if (head.conditions) add_all_conditions(problem);
  return problem;
}

/// The largest difference of numbers that are not equal; NaN if one of them is.
double difference(const float* a, const float* b, Index count) {
  double largest = 0;
  for (Index i = 0; i < count; ++i) {
    if (a[i] == b[i]) continue;
    largest =
        larger_or_nan(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

double difference(MatrixView a, MatrixView b) {
  double largest = 0;
  for (Index i = 0; i < a.rows; ++i)
    largest = larger_or_nan(largest, difference(a.row(i), b.row(i), a.cols));
  return largest;
}

double largest(MatrixView m) {
  return difference(m, Matrix(m.rows, m.cols));
}

double norm(const float* values, Index count) {
  double sum = 0;
  for (Index c = 0; c < count; ++c)
    sum += static_cast<double>(values[c]) * static_cast<double>(values[c]);
  return std::sqrt(sum);
}

double longest_row(MatrixView m) {
  double longest = 0;
  for (Index i = 0; i < m.rows; ++i) longest = std::max(longest, norm(m.row(i), m.cols));
  return longest;
}

class SelfTest {
 public:
  SelfTest(const Backend& tested, const Backend& trusted, Run& run,
           const std::function<void(const std::string&)>& began)
      : tested_(tested), trusted_(trusted), run_(run), began_(began) {
    if (tested.precision() == "bf16") unit_ = unit_roundoff(ElementType::bf16);
    if (tested.precision() == "fp16") unit_ = unit_roundoff(ElementType::f16);
  }

  const std::string& finding() const { return finding_; }
  /// The head that was tested last; it stands before the finding.
  const std::string& where() const { return where_; }

  void heads(const SelfTestLengths& lengths) {
    const Variant& exact = variants().front();
    const Index n = lengths.tokens;
    const Lengths ragged{2 * n / 3, 2 * n / 3}, cross{n / 2, n / 3};
    for (const TestHead& head :
         {TestHead{{n, n}}, TestHead{ragged, 40, 24, true}, TestHead{ragged, 64, 64, true, 8},
          TestHead{{n / 3, n / 3}, 128, 256}, TestHead{cross},
          TestHead{ragged, 64, 64, true, 1, true}})
      compare(exact, head);
    if (const Index many = lengths.many_queries; many > 0) {
      // Tiles of 64 and of more queries, whatever the GPU; and keys that are divided among blocks.
      for (const Index queries : {many / 24, many / 10, many / 4, many})
        compare(exact, {{queries, 96}});
      compare(exact, {{many, 96}, 128, 128});
      compare(exact, {{many / 12, many / 12}});
    }
    for (const Variant& variant : variants())
      for (const bool causal : {false, true}) compare(variant, {{n, n}, 32, 32, causal});
  }

  /// Tests the steps of planning on whole numbers, whose sums are exact.
  void planning(Index n) {
    enter("Planning");
    Random draw(seed, std::uint64_t{4} << 32);
    const auto whole = [&](Index rows, Index cols) {
      Matrix m(rows, cols);
      for (Index i = 0; i < rows; ++i)
        for (Index c = 0; c < cols; ++c) m(i, c) = static_cast<float>(draw.below(15)) - 7;
      return m;
    };
    const Matrix x = whole(n, 24), directions = whole(7, 24);
    std::vector<std::int32_t> keys;
    for (Index i = 0; i < n; ++i) keys.push_back(static_cast<std::int32_t>(draw.below(64)));
    Tree tree;
    tree.levels.push_back({2, true, whole(1, 24), {0.5f}});
    tree.levels.push_back({3, false, whole(2 * 3, 24), std::vector<float>(2 * 3)});
    const auto expect = [&](bool same, const char* what) {
      if (finding_.empty() && !same)
        finding_ = std::string(what) + " of " + std::to_string(n) + " tokens differ.";
    };
    expect(tested_.lsh_buckets(x, directions, run_) == trusted_.lsh_buckets(x, directions, run_),
           "Hash buckets");
    expect(tested_.stable_order(keys, 64, run_) == trusted_.stable_order(keys, 64, run_),
           "Sorted positions");
    expect(tested_.route(x, tree, run_) == trusted_.route(x, tree, run_), "Leaves");
  }

  /// Tests the gradient of a tree that learns, if the back end has loops of its own for it.
  void learning(Index n) {
    if (!finding_.empty()) return;
    constexpr Index leaves = 8;
    const Matrix queries = normal(n / 4, 32, 1, 8), targets = normal(n / 4, 32, 1, 9),
                 keys = normal(n, 32, 1, 10), values = normal(n, 32, 1, 11);
    Random draw(seed, std::uint64_t{12} << 32);
    std::vector<std::int32_t> leaf;
    for (Index i = 0; i < n / 4; ++i) leaf.push_back(static_cast<std::int32_t>(draw.below(leaves)));
    std::vector<Index> place, begin;
    for (Index j = 0; j < n; ++j) place.push_back(j);
    for (Index l = 0; l <= leaves; ++l) begin.push_back(l * n / leaves);
    const TokenBatch batch{queries, targets, leaf, {}, keys, values, place, begin, 0.2f};
    enter("A step of learning");
    const auto ours = tested_.leaf_loss(batch, run_);
    if (!ours) return;
    const MembershipGradient theirs = leaf_loss(batch);
    // Sums over keys and queries in fp32, in another order.
    const double most = 1e-4;
    expect("the loss is", std::abs(ours->loss / theirs.loss - 1), most, " of its size");
    expect("the gradient of queries is",
           difference(ours->queries, theirs.queries) / largest(theirs.queries), most,
           " of its size");
    expect("the gradient of keys is", difference(ours->keys, theirs.keys) / largest(theirs.keys),
           most, " of its size");
  }

  /// Two back ends may differ by twice the bounds that Backend::singular_values states.
  void singular_values() {
    if (!finding_.empty()) return;
    enter("Singular values");
    const std::vector<Matrix> blocks{normal(100, 100, 1, 5), normal(64, 64, 1, 6),
                                     normal(32, 48, 1, 7)};
    const std::vector<MatrixView> views(blocks.begin(), blocks.end());
    const Spectra a = tested_.singular_values(views, run_),
                  b = trusted_.singular_values(views, run_);
    for (std::size_t i = 0; i < blocks.size() && finding_.empty(); ++i) {
      double size = 0;
      for (Index r = 0; r < blocks[i].rows(); ++r)
        size = std::hypot(size, norm(blocks[i].row(r), blocks[i].cols()));
      if (a.values[i].size() != b.values[i].size() ||
          !(difference(a.values[i].data(), b.values[i].data(), b.values[i].size()) <= 2e-6 * size))
        finding_ = "Singular values of a block of " + std::to_string(blocks[i].rows()) + " x " +
                   std::to_string(blocks[i].cols()) + " differ.";
    }
  }

 private:
  void compare(const Variant& variant, const TestHead& head) {
    if (!finding_.empty()) return;
    run_.check();
    const Problem problem = problem_of(head);
    if (!variant.refusal(problem).empty()) return;
    const Structure none;
    Planning planning{trusted_, run_, seed, none};
    const auto plan = std::make_shared<const Plan>(
        variant.plan(problem, values_for_length(variant, problem.keys()), planning));
    enter(variant.label + ", " + head.text());
    const auto theirs = trusted_.bind(plan, problem, run_),
               ours = tested_.bind(plan, problem, run_);

    // Exponents are rounded relative to their size, of logits or of features (at most twice
    // g . x - |x|^2 / 2 for a direction of length sqrt(d) + 4), and sums by the number of keys.
    const double q = longest_row(problem.q) * std::sqrt(problem.scale),
                 k = longest_row(problem.k) * std::sqrt(problem.scale), x = std::max(q, k),
                 exponent =
                     variant.reference ? q * k : 2 * x * (std::sqrt(problem.d()) + 4) + x * x;
    const double fp32 =
        0x1p-23 * (8 + 4 * exponent) + 2 * static_cast<double>(problem.keys()) * 0x1p-24;
    // Roundings of factors and of weights are independent: 8 of their standard deviations, for
    // logits in proportion to their spread.
    const double factors = 8 * unit_ * (1 + head.spread);

    const Output a = ours->apply(run_), b = theirs->apply(run_);
    if (products_timed_out()) return;
    double size = 0, error = 0;  // of rows of Z
    Matrix apart(1, problem.dv());
    for (Index i = 0; i < problem.queries(); ++i) {
      for (Index c = 0; c < problem.dv(); ++c) apart(0, c) = a.z(i, c) - b.z(i, c);
      error = larger_or_nan(error, norm(apart.row(0), problem.dv()));
      size = std::hypot(size, norm(b.z.row(i), problem.dv()));
    }
    size /= std::sqrt(problem.queries());
    expect("outputs are", error / size, factors + 4 * fp32 * longest_row(problem.v) / size,
           " of their size");
    if (a.lse.size() != b.lse.size()) {
      finding_ = where_ + "there are " + std::to_string(a.lse.size()) + " log-sum-exps.";
      return;
    }
    expect("log-sum-exp is", difference(a.lse.data(), b.lse.data(), std::ssize(b.lse)),
           factors + fp32 * (1 + std::log(problem.keys())), "");

    const IndexRange rows{problem.queries() / 3,
                          std::min(problem.queries(), problem.queries() / 3 + 200)},
        cols{0, problem.keys() - problem.keys() / 4};
    for (const auto kind : {Pool::Kind::none, Pool::Kind::max, Pool::Kind::mean}) {
      const Pool pool{kind, (rows.size() + 2) / 3, (cols.size() + 4) / 5};
      const Matrix of_tested = ours->tile(rows, cols, pool, run_),
                   of_trusted = theirs->tile(rows, cols, pool, run_);
      expect("entries are", difference(of_tested, of_trusted),
             4 * fp32 * std::max(1.0, largest(of_trusted)), "");
    }
    if (!ours->has_rows() || !theirs->has_rows()) return;
    const Index pixel = 7, begin = rows.begin / pixel * pixel;
    const RowsOutput some = ours->apply_rows(problem.v, {begin, problem.queries()}, pixel, run_),
                     same = theirs->apply_rows(problem.v, {begin, problem.queries()}, pixel, run_);
    if (products_timed_out()) return;
    const double maps = 4 * fp32 + factors;  // of the logits of Z
    expect("maps of maxima are", difference(some.most, same.most), maps, "");
    expect("maps of means are", difference(some.mean, same.mean), maps, "");
  }

  void enter(const std::string& what) {
    where_ = what + ": ";
    if (began_) began_(what);
  }

  bool products_timed_out() {
    const bool found = std::ranges::any_of(run_.profile.stages(), [](const StageTime& stage) {
      return stage.name == wgmma_timed_out;
    });
    if (found)
      finding_ = where_ + "products of warpgroups timed out, and products of warps replaced them.";
    return found;
  }

  void expect(const char* what, double found, double most, const char* unit) {
    if (finding_.empty() && !(found <= most))
      finding_ = where_ + what + " off by " + format_plain(found) + unit + "; rounding explains " +
                 format_plain(most) + ".";
  }

  const Backend& tested_;
  const Backend& trusted_;
  Run& run_;
  const std::function<void(const std::string&)>& began_;
  double unit_ = 0;  // of rounding to 16 bits
  std::string where_, finding_;
};

}  // namespace

std::string self_test(const Backend& tested, const Backend& trusted, Run& run,
                      const SelfTestLengths& lengths,
                      const std::function<void(const std::string&)>& began) {
  SelfTest test(tested, trusted, run, began);
  try {
    test.planning(4 * lengths.tokens);
    test.heads(lengths);
    test.singular_values();
    test.learning(lengths.tokens);
  } catch (const DeviceLostError& lost) {
    return test.finding().empty() ? test.where() + lost.what() : test.finding();
  }
  return test.finding();
}

}  // namespace fovea
