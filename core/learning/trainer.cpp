#include "learning/trainer.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "data/draw_purpose.h"
#include "data/error.h"
#include "data/group_by.h"
#include "data/memory.h"
#include "data/number_text.h"
#include "learning/rows.h"

namespace fovea {
namespace {

/// How fast the multiplier moves, and the share of the limit that it aims at: chi swings around it
/// from step to step.
constexpr double multiplier_rate = 0.02, aimed_share = 0.97;

/// A seed for a step, so that its draws depend on nothing but the seed and the step.
std::uint64_t seed_of_step(std::uint64_t seed, Index step) {
  const auto at = static_cast<std::uint64_t>(step);
  const auto words =
      philox({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at >> 32)},
             {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return (static_cast<std::uint64_t>(words[0]) << 32) | words[1];
}

/// Bytes that a step holds at once: tokens of the batch and of all keys, their scores at each node,
/// three gradients by their membership of each leaf, and the logits.
double step_bytes(const LearningSet& set, const Tree& tree, const LearningOptions& options) {
  const auto count = [](Index n) { return static_cast<double>(n); };
  double nodes = 0, weights = 0;
  for (const TreeLevel& level : tree.levels) {
    nodes += count(level.weight.rows());
    weights += count(level.weight.rows() * (set.d() + 1));
  }
  const double batch = count(std::min(options.batch, set.learned_from)),
               keys = count(set.keys.rows()), leaves = count(tree.leaves());
  return sizeof(float) * ((batch + keys) * (count(3 * set.d() + set.dv()) + nodes + 3 * leaves) +
                          4 * batch * keys + 12 * weights);
}

Matrix stacked(const Matrix& above, const Matrix& below) {
  Matrix out(above.rows() + below.rows(), above.cols());
  for (Index i = 0; i < out.rows(); ++i)
    std::copy_n(i < above.rows() ? above.row(i) : below.row(i - above.rows()), out.cols(),
                out.row(i));
  return out;
}

std::vector<float> shares(const std::vector<std::int32_t>& leaf, Index leaves) {
  std::vector<float> out(leaves);
  for (const std::int32_t l : leaf) ++out[l];
  for (float& share : out) share /= static_cast<float>(leaf.size());
  return out;
}

/// Whether scores of these weights cannot overflow for tokens of any reasonable size.
bool all_bounded(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float x) { return std::abs(x) <= 1e15f; });
}

void scale(Matrix& m, float factor) {
  for (Index i = 0; i < m.rows(); ++i)
    for (Index c = 0; c < m.cols(); ++c) m(i, c) *= factor;
}

void add_to_rows(Matrix& m, const std::vector<float>& row, float factor) {
  for (Index i = 0; i < m.rows(); ++i)
    for (Index c = 0; c < m.cols(); ++c) m(i, c) += factor * row[c];
}

}  // namespace

void require_alphas(std::size_t alphas, std::size_t depths) {
  if (alphas != depths)
    throw UsageError("alpha has " + std::to_string(alphas) + (alphas == 1 ? " value" : " values") +
                     "; expected h + 1 = " + std::to_string(depths));
}

void check_learnable(Index leaves, std::size_t depths, const std::vector<float>& alpha) {
  if (leaves > LearningOptions::most_leaves)
    throw UsageError("the tree has " + std::to_string(leaves) + " leaves; expected at most " +
                     std::to_string(LearningOptions::most_leaves) + " in a tree that learns");
  if (!alpha.empty()) require_alphas(alpha.size(), depths);
}

Trainer::Trainer(std::shared_ptr<const LearningSet> set, Tree start, LearningOptions options,
                 Run& run)
    : set_(std::move(set)), options_(std::move(options)) {
  const auto depths = static_cast<std::size_t>(start.height()) + 1;
  check_learnable(start.leaves(), depths, options_.alpha);
  require_memory(step_bytes(*set_, start, options_),
                 "learning a tree of " + plural(start.leaves(), "leaf"));
  full_ = TreeWeights(start, *set_);
  std::vector<float> parameters(alphas(), 1.0f / static_cast<float>(depths));
  if (options_.coarse && !options_.alpha.empty()) parameters = options_.alpha;
  const std::vector<float> alpha = parameters;
  parameters.insert(parameters.end(), full_.values().begin(), full_.values().end());
  start_ = best_ = learned(parameters, full_.height(), 0, run);
  state_.best = parameters;
  state_.height = options_.bootstrap > 0 ? std::min(1, full_.height()) : full_.height();
  const TreeWeights first = full_.top(state_.height);
  parameters = alpha;
  parameters.insert(parameters.end(), first.values().begin(), first.values().end());
  take(parameters, state_.height);
  adam_ = Adam(parameters.size());
  const LearnedTree now = current(run);
  state_.loss = std::pow(now.measured.error, 2);
  add_to_curve(now);
}

/// The first values: a tree that still grows does not use the others yet.
std::vector<float> Trainer::alpha_of(const std::vector<float>& parameters, int height) const {
  if (!options_.coarse) return {};
  return {parameters.begin(), parameters.begin() + height + 1};
}

LearnedTree Trainer::learned(const std::vector<float>& parameters, int height, Index step,
                             Run& run) const {
  TreeWeights weights = full_.top(height);
  std::copy(parameters.begin() + alphas(), parameters.end(), weights.values().begin());
  LearnedTree out{.tree = weights.tree(*set_), .alpha = alpha_of(parameters, height), .step = step};
  out.measured = measure_tree(*set_, out.tree, out.alpha, run);
  return out;
}

void Trainer::take(const std::vector<float>& parameters, int height) {
  if (weights_.height() != height || weights_.values().empty()) weights_ = full_.top(height);
  std::copy(parameters.begin() + alphas(), parameters.end(), weights_.values().begin());
  state_.height = height;
  state_.parameters = parameters;
}

std::vector<Index> Trainer::batch_of_step() const {
  const Index count = std::min(options_.batch, set_->learned_from);
  Random random(seed_of_step(options_.seed, state_.step),
                stream_of(DrawPurpose::learning_batch, options_.head));
  return drawn<Index>(set_->learned_from, count, random);
}

MembershipGradient Trainer::fine_gradient(const std::vector<Index>& batch, const Routed& leaf,
                                          Run& run, const Backend* backend) const {
  const Index keys = set_->keys.rows(), leaves = weights_.leaves();
  const Grouped by_leaf = group_by(leaf.keys, leaves);
  const std::vector<Index> order(by_leaf.order.begin(), by_leaf.order.end());
  const Matrix q = gathered(set_->queries, batch), k = gathered(set_->keys, order),
               v = gathered(set_->values, order), t = gathered(set_->targets, batch);
  std::vector<Index> admissible;
  for (const Index i : batch)
    if (set_->causal) admissible.push_back(set_->admissible(i));
  const TokenBatch tokens{.queries = q,
                          .targets = t,
                          .query_leaf = leaf.batch,
                          .admissible = admissible,
                          .keys = k,
                          .values = v,
                          .place = order,
                          .leaf_begin = by_leaf.begin,
                          .scale = static_cast<float>(set_->scale)};
  std::optional<MembershipGradient> found;
  if (backend) found = backend->leaf_loss(tokens, run);
  MembershipGradient out = found ? std::move(*found) : leaf_loss(tokens, run.stop);
  Matrix in_sequence(keys, leaves);
  for (Index p = 0; p < keys; ++p) std::copy_n(out.keys.row(p), leaves, in_sequence.row(order[p]));
  out.keys = std::move(in_sequence);
  return out;
}

NodeGradient Trainer::coarse_gradient(const std::vector<Index>& batch, const Routed& leaf,
                                      Run& run) const {
  std::vector<Index> admissible;
  for (const Index i : batch)
    if (set_->causal) admissible.push_back(set_->admissible(i));
  std::vector<int> branching;
  for (const auto& level : weights_.levels()) branching.push_back(level.branching);
  const Matrix targets = gathered(set_->targets, batch);
  const std::vector<float> alpha = alpha_of(state_.parameters, state_.height);
  return node_loss({.values = set_->values,
                    .key_leaf = leaf.keys,
                    .targets = targets,
                    .query_leaf = leaf.batch,
                    .admissible = admissible,
                    .branching = branching,
                    .alpha = alpha},
                   run.stop);
}

NodeGradient Trainer::loss_gradient(const std::vector<Index>& batch, const Routed& leaf, Run& run,
                                    const Backend* backend) const {
  if (options_.coarse) return coarse_gradient(batch, leaf, run);
  return {.by_leaf = fine_gradient(batch, leaf, run, backend), .alpha = {}};
}

double Trainer::Gradient::norm() const {
  double squares = 0;
  for (const float g : by_parameter) squares += static_cast<double>(g) * static_cast<double>(g);
  return std::sqrt(squares);
}

Trainer::Gradient Trainer::gradient_of_step(Run& run, const Backend* backend) const {
  const std::vector<Index> batch = batch_of_step();
  const auto count = static_cast<float>(batch.size());
  const Matrix points = stacked(gathered(set_->query_points, batch), set_->key_points);
  const Matrix scores = weights_.scores(points);
  const std::vector<std::int32_t> all = weights_.leaves_of_scores(scores);
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(batch.size());
  const Routed leaf{
      .queries = weights_.leaves_of(set_->query_points.view().slice({0, set_->learned_from})),
      .batch = {all.begin(), middle},
      .keys = {middle, all.end()}};
  run.check();
  NodeGradient change = loss_gradient(batch, leaf, run, backend);
  run.check();
  const auto norm = static_cast<float>(1 / (static_cast<double>(count) * set_->target_square));
  MembershipGradient& by_leaf = change.by_leaf;
  scale(by_leaf.queries, norm);
  scale(by_leaf.keys, norm);

  // chi = sum over leaves of the shares of queries and keys: its derivative by the membership of a
  // query is the share of the keys, over the number of queries, and the other way round.
  const Index leaves = weights_.leaves();
  const std::vector<float> queries = shares(leaf.queries, leaves), keys = shares(leaf.keys, leaves);
  const double cost = static_cast<double>(leaves) *
                      std::inner_product(queries.begin(), queries.end(), keys.begin(), 0.0);
  Gradient out{.loss = by_leaf.loss / (static_cast<double>(count) * set_->target_square)};
  out.multiplier =
      std::max(0.0, state_.multiplier + multiplier_rate * (cost - aimed_share * options_.cost));
  const float weight = static_cast<float>(out.multiplier) * static_cast<float>(leaves);
  add_to_rows(by_leaf.queries, keys, weight / count);
  add_to_rows(by_leaf.keys, queries, weight / static_cast<float>(set_->keys.rows()));

  std::vector<float> by_weight(weights_.values().size());
  weights_.add_gradient(points, scores, stacked(by_leaf.queries, by_leaf.keys), options_.credit,
                        by_weight);
  out.by_parameter.assign(alphas(), 0.0f);
  for (std::size_t l = 0; learns_alpha() && l < change.alpha.size(); ++l)
    out.by_parameter[l] = norm * change.alpha[l];
  out.by_parameter.insert(out.by_parameter.end(), by_weight.begin(), by_weight.end());
  return out;
}

void Trainer::step(Run& run, const Backend* backend) {
  if (diverged()) return;
  Trainer next = *this;
  next.take_step(run, backend);
  *this = std::move(next);
}

void Trainer::take_step(Run& run, const Backend* backend) {
  run.check();
  if (options_.bootstrap > 0) grow();
  const Gradient gradient = gradient_of_step(run, backend);
  std::vector<float> parameters = state_.parameters;
  Adam adam = adam_;
  adam.step(parameters, gradient.by_parameter, options_.rate);
  state_.diverged = !std::isfinite(gradient.loss) || !all_bounded(parameters);
  if (diverged()) return;
  adam_ = std::move(adam);
  take(parameters, state_.height);
  last_.reset();
  if (!is_scheduled(state_.curve.back().step)) state_.curve.pop_back();
  state_.loss = gradient.loss;
  state_.gradient_norm = gradient.norm();
  state_.multiplier = gradient.multiplier;
  ++state_.step;
  if (is_scheduled(state_.step)) measure(run);
}

void Trainer::learn(Index steps, Run& run, const Backend* backend) {
  const Index begin = state_.step;
  while (state_.step < steps && !diverged()) {
    step(run, backend);
    run.reached(static_cast<double>(state_.step - begin) /
                static_cast<double>(std::max<Index>(steps - begin, 1)));
  }
  if (!diverged() && !is_scheduled(state_.step) && state_.curve.back().step != state_.step)
    measure_end(run);
}

/// The moments of Adam begin anew with the new weights.
void Trainer::grow() {
  while (state_.height < full_.height() && state_.step >= options_.bootstrap * state_.height) {
    const auto& next = full_.levels()[state_.height];
    weights_.grow(next.branching, next.by_sign, options_.seed, options_.head);
    std::vector<float> parameters(state_.parameters.begin(), state_.parameters.begin() + alphas());
    parameters.insert(parameters.end(), weights_.values().begin(), weights_.values().end());
    take(parameters, state_.height + 1);
    adam_ = Adam(parameters.size());
  }
}

void Trainer::measure(Run& run) {
  const LearnedTree now = current(run);
  add_to_curve(now);
  if (state_.height == full_.height()) consider(now);
}

void Trainer::measure_end(Run& run) {
  LearnedTree now = current(run);
  add_to_curve(now);
  if (state_.height == full_.height()) last_ = std::move(now);
}

void Trainer::add_to_curve(const LearnedTree& now) {
  state_.curve.push_back({.step = state_.step,
                          .loss = state_.loss,
                          .gradient_norm = state_.gradient_norm,
                          .error = now.measured.error,
                          .held_out_error = now.measured.held_out_error,
                          .chi = now.measured.skew.chi,
                          .effective_leaves = now.measured.skew.keys.effective_leaves});
}

bool Trainer::better(const LearnedTree& tree, const LearnedTree& than) const {
  const Index leaves = full_.leaves();
  const auto within = [&](const LearnedTree& x) {
    return x.measured.cost(leaves) <= options_.cost;
  };
  if (within(tree) != within(than)) return within(tree);
  return within(tree) ? tree.measured.error < than.measured.error
                      : tree.measured.skew.chi < than.measured.skew.chi;
}

void Trainer::consider(const LearnedTree& tree) {
  if (!better(tree, best_)) return;
  best_ = tree;
  state_.best = state_.parameters;
  state_.best_step = tree.step;
}

TrainerState Trainer::state() const {
  TrainerState out = state_;
  out.adam_steps = adam_.steps();
  out.first = adam_.first();
  out.second = adam_.second();
  return out;
}

void Trainer::restore(const TrainerState& state, Run& run) {
  const bool heights =
      state.height >= std::min(1, full_.height()) && state.height <= full_.height();
  const std::size_t best = static_cast<std::size_t>(alphas()) + full_.values().size(),
                    now = heights ? static_cast<std::size_t>(alphas()) +
                                        full_.top(state.height).values().size()
                                  : 0;
  if (!heights || state.parameters.size() != now || state.first.size() != now ||
      state.second.size() != now || state.best.size() != best)
    throw InputError("state of learning", std::to_string(state.best.size()) +
                                              " numbers at height " + std::to_string(state.height) +
                                              "; expected " + std::to_string(best) +
                                              " at height 1 to " + std::to_string(full_.height()));
  LearnedTree best_tree = learned(state.best, full_.height(), state.best_step, run);
  state_ = state;
  state_.first.clear();
  state_.second.clear();
  weights_ = full_.top(state.height);
  take(state.parameters, state.height);
  adam_ = Adam(state.first, state.second, state.adam_steps);
  best_ = std::move(best_tree);
  last_.reset();
  if (!is_scheduled(state_.step) && state_.height == full_.height() && !diverged())
    last_ = current(run);
}

}  // namespace fovea
