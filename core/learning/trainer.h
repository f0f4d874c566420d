// A Trainer learns the tree of one head, step by step: Dense Gradient Trees (Treeformer, section 3)
// with Adam on mini-batches of queries. It can be stepped, left alone, asked for its best tree so
// far, written down and resumed.
//
// The loss of a step is the squared output error of its queries against exact attention, relative
// to the mean square of exact outputs, plus multiplier * chi * leaves. The multiplier grows while
// chi * leaves is above 0.97 times the limit `cost`, and shrinks, never below 0, while it is below:
// leaves become as full as the limit allows where that lowers the error. A query whose leaf holds
// no key has Z = 0. One thread; the same seed gives the same tree,
// on each back end: two back ends add in different orders.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "learning/adam.h"
#include "learning/leaf_loss.h"
#include "learning/measured_tree.h"
#include "learning/node_loss.h"
#include "learning/tree_weights.h"

namespace fovea {

struct LearningOptions {
  static constexpr Index most_leaves = 1024;  // a step holds a few numbers for each leaf and token

  bool coarse = false;            // TC-attention, which learns alpha; else TF-attention
  std::vector<float> alpha = {};  // [h + 1] of TC; if given, they are used and not learned
  double cost = 1.15;             // limit of chi * leaves of the best tree
  Index batch = 256;              // queries a step
  double rate = 0.005;            // of Adam
  Credit credit = Credit::path;
  Index bootstrap = 0;       // steps at each smaller height first (Algorithm 1); 0 if none
  Index measured_every = 5;  // steps
  std::uint64_t seed = 0;
  Index head = 0;  // heads of one seed draw numbers of their own
};

/// Throws UsageError unless there are as many alphas as depths, h + 1.
void require_alphas(std::size_t alphas, std::size_t depths);
/// Throws UsageError for more leaves than most_leaves, and for alpha of another length than the
/// depths, h + 1, unless it is empty.
void check_learnable(Index leaves, std::size_t depths, const std::vector<float>& alpha);

/// A tree that was measured during learning.
struct LearnedTree {
  Tree tree;
  std::vector<float> alpha;  // of TC
  Index step = 0;
  MeasuredTree measured;
};

/// One point of the curves.
struct CurvePoint {
  Index step = 0;
  double loss = 0;  // of the last batch, without the term of cost: relative and squared
  /// Euclidean norm of the last step's gradient by all learned parameters, the term of cost
  /// included; nothing before the first step.
  std::optional<double> gradient_norm = {};
  double error = 0, held_out_error = 0;
  double chi = 0;
  double effective_leaves = 0;  // of the keys
  friend bool operator==(const CurvePoint&, const CurvePoint&) = default;
};

/// Everything a Trainer must remember between steps, beside what it was made from.
struct TrainerState {
  Index step = 0, adam_steps = 0, best_step = 0;
  int height = 0;  // reached
  bool diverged = false;
  double loss = 0, multiplier = 0;
  std::optional<double> gradient_norm = {};
  std::vector<float> parameters, first, second;  // alpha, then TreeWeights::values()
  std::vector<float> best;                       // parameters
  std::vector<CurvePoint> curve;
  friend bool operator==(const TrainerState&, const TrainerState&) = default;
};

class Trainer {
 public:
  /// `start`: where learning begins, and which height and branching the tree has. Throws what
  /// check_learnable does, and Cancelled.
  Trainer(std::shared_ptr<const LearningSet> set, Tree start, LearningOptions options, Run& run);

  /// Does one step; nothing once learning has diverged. If it throws Cancelled, the trainer is as
  /// it was before. The back end does the sums over the keys if it can.
  void step(Run& run, const Backend* backend = nullptr);
  /// Steps until `steps` are done in all, and reports its progress to the run. If it throws
  /// Cancelled, whole steps have been done. Learning in parts gives the same trees as learning at
  /// once: trees measured only because a part ended are forgotten when learning goes on.
  void learn(Index steps, Run& run, const Backend* backend = nullptr);

  Index steps() const { return state_.step; }
  /// Whether the loss became NaN or infinite, or a weight NaN or larger than 1e15. The best tree
  /// before that is kept.
  bool diverged() const { return state_.diverged; }
  /// The measured tree of full height within the cost that has the least error over the rows
  /// learned from; if no tree is within the cost, the one with the least chi. Errors of held-out
  /// rows do not count; chi, which needs no exact attention, is of all rows.
  const LearnedTree& best() const { return last_ && better(*last_, best_) ? *last_ : best_; }
  /// The tree with which learning began.
  const LearnedTree& start() const { return start_; }
  /// The tree as it is now. Throws Cancelled.
  LearnedTree current(Run& run) const {
    return learned(state_.parameters, state_.height, state_.step, run);
  }
  const std::vector<CurvePoint>& curve() const { return state_.curve; }

  TrainerState state() const;
  /// Goes on from a state that was written. Throws InputError if it is of another tree, and
  /// Cancelled.
  void restore(const TrainerState& state, Run& run);

 private:
  struct Gradient {
    double loss = 0, multiplier = 0;
    std::vector<float> by_parameter;

    double norm() const;
  };
  /// The leaves of this moment: of all queries to learn from, of the batch and of the keys.
  struct Routed {
    std::vector<std::int32_t> queries, batch, keys;
  };

  Index alphas() const { return options_.coarse ? full_.height() + 1 : 0; }
  bool learns_alpha() const { return options_.coarse && options_.alpha.empty(); }
  std::vector<float> alpha_of(const std::vector<float>& parameters, int height) const;
  LearnedTree learned(const std::vector<float>& parameters, int height, Index step, Run& run) const;
  std::vector<Index> batch_of_step() const;
  Gradient gradient_of_step(Run& run, const Backend* backend) const;
  NodeGradient loss_gradient(const std::vector<Index>& batch, const Routed& leaf, Run& run,
                             const Backend* backend) const;
  MembershipGradient fine_gradient(const std::vector<Index>& batch, const Routed& leaf, Run& run,
                                   const Backend* backend) const;
  NodeGradient coarse_gradient(const std::vector<Index>& batch, const Routed& leaf, Run& run) const;
  void take_step(Run& run, const Backend* backend);
  void grow();
  void measure(Run& run);
  void measure_end(Run& run);
  void add_to_curve(const LearnedTree& now);
  bool is_scheduled(Index step) const { return step % options_.measured_every == 0; }
  bool better(const LearnedTree& tree, const LearnedTree& than) const;
  void consider(const LearnedTree& tree);
  void take(const std::vector<float>& parameters, int height);

  std::shared_ptr<const LearningSet> set_;
  LearningOptions options_;
  TreeWeights full_;     // where learning begins without bootstrapping
  TreeWeights weights_;  // those among the parameters
  Adam adam_;
  TrainerState state_;
  LearnedTree start_, best_;         // best_: of the steps at which all runs measure
  std::optional<LearnedTree> last_;  // of the end, if it is not one of those steps
};

}  // namespace fovea
