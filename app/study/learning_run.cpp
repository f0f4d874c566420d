#include "study/learning_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>

#include "plan/leaves.h"
#include "session/tree_trial.h"
#include "study/session_editor.h"
#include "variants/learned_tree.h"

namespace fovea {
namespace {

constexpr std::chrono::milliseconds step_time{120};  // of learning, between two pictures
/// A Trainer measures its tree so often. The column has a multiple of it, also where a step was
/// cancelled: planning with as many steps finds the same tree.
constexpr Index steps_together = LearningOptions{}.measured_every;

LeafSnapshot snapshot_of(const Plan& plan, Index step, Run& run) {
  LeafSnapshot snapshot{.step = step};
  if (const auto leaves = leaves_of(plan))
    for (const LeafCount& leaf : count_leaves(leaves->keys, run))
      snapshot.keys.push_back(leaf.tokens);
  std::ranges::sort(snapshot.keys, std::greater());
  return snapshot;
}

}  // namespace

/// What learning needs on the engine's thread.
struct LearningRun::Work {
  std::shared_ptr<const Problem> problem;
  Column column;
  Fit fit;
  LearningOptions options;
  std::mutex mutex;  // the thread of an older engine may end its step late
  std::unique_ptr<Trainer> trainer;

  double spent_ms = 0;    // by the trainer
  Index known_steps = 0;  // that the column had learned before
  // The step of the tree that the column shows; set by take(), as a result may be lost.
  std::atomic<Index> shown = -1;
  std::optional<LeafSnapshot> first;

  const Variant& variant() const { return find_variant(column.variant); }
  /// The column with the tree that is learned in a number of steps.
  Column after(Index steps) const {
    Column learned = column;
    set_learned(variant(), learned.values, steps);
    return learned;
  }
  ComputeRequest request(const LearnedTree& learned, Index steps) const {
    return {.variant = &variant(),
            .values = after(steps).values,
            .seed = column.seed,
            .given = tensors_of(learned)};
  }

  Index leaves() const {
    return std::accumulate(fit.shape.branching.begin(), fit.shape.branching.end(), Index{1},
                           std::multiplies<>());
  }
  /// Some steps, and the best tree so far where it is another one.
  Step advance(const Backend& backend, Run& run);
  void learn_for(std::chrono::milliseconds time, const Backend& backend, Run& run);
};

struct LearningRun::Step {
  Index steps = 0;
  bool diverged = false;
  Column column;                                   // with the tree of `steps`
  std::shared_ptr<const Computation> computation;  // of it; null if the column shows it already
  Index tree = 0;                                  // the step at which this tree was found
  std::vector<CurvePoint> curve;
  MeasuredTree start, best;
  std::vector<LeafSnapshot> snapshots;
};

LearningRun::Step LearningRun::Work::advance(const Backend& backend, Run& run) {
  const std::scoped_lock lock(mutex);
  Run quiet = run.quiet();
  if (!trainer)
    trainer = std::make_unique<Trainer>(
        make_trainer(fit, options, *problem, column.seed, backend, quiet));
  if (!first) {
    const auto start = prepare(*problem, request(trainer->start(), 1), backend, quiet);
    first = snapshot_of(start.op->plan(), 0, quiet);
  }
  learn_for(step_time, backend, quiet);
  Step step{.steps = trainer->steps(), .diverged = trainer->diverged()};
  step.column = after(std::max<Index>(1, step.steps));
  step.curve = trainer->curve();
  step.start = trainer->start().measured;
  step.best = trainer->best().measured;
  const bool ended = step.diverged || step.steps == most_learning_steps;
  if (trainer->best().step == shown || (step.steps < known_steps && !ended)) return step;
  auto computation = std::make_shared<Computation>(
      compute(*problem, request(trainer->best(), step.steps), backend, quiet));
  computation->first_run.learning.add("tree", spent_ms);
  if (shown < 0) step.snapshots.push_back(*first);
  step.snapshots.push_back(snapshot_of(computation->op->plan(), step.steps, quiet));
  step.computation = std::move(computation);
  step.tree = trainer->best().step;
  return step;
}

void LearningRun::Work::learn_for(std::chrono::milliseconds time, const Backend& backend,
                                  Run& run) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto count = [&] {
    spent_ms += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  };
  try {
    do {
      const Index next = trainer->steps() - trainer->steps() % steps_together + steps_together;
      trainer->learn(std::min(next, most_learning_steps), run, &backend);
    } while (!trainer->diverged() && trainer->steps() < most_learning_steps &&
             Clock::now() - start < time);
  } catch (const Cancelled&) {
    count();
    throw;
  }
  count();
}

LearningRun::LearningRun(Study& study, SessionEditor& editor, QObject* parent)
    : QObject(parent), study_(study), editor_(editor), steps_(study, RequestKind::learning) {
  connect(&steps_, &BackgroundRun::changed, this, &LearningRun::changed);
}

LearningRun::~LearningRun() {
  pause();
}

bool LearningRun::can_learn(const ColumnState& column) const {
  return find_variant(column.column.variant).tree_attention != TreeAttention::none &&
         study_.head_of(column).problem;
}

std::optional<std::size_t> LearningRun::column_of_run() const {
  if (!work_) return {};
  const auto& columns = study_.session().columns;
  if (columns != columns_) {
    const auto from = continued_columns(columns_, columns);
    column_ = std::ranges::find(from, static_cast<int>(column_)) - from.begin();
    columns_ = columns;
  }
  if (column_ >= std::min(columns.size(), study_.columns().size())) return {};
  const bool same_head = study_.head_of(study_.columns()[column_]).problem == problem_;
  return columns[column_] == shown_ && same_head ? std::optional(column_) : std::nullopt;
}

bool LearningRun::can_resume() const {
  const auto column = column_of_run();
  return !running() && has_learned() && !diverged_ && done_ < most_learning_steps && column &&
         *column == static_cast<std::size_t>(study_.selected_column());
}

void LearningRun::learn() {
  const auto column = static_cast<std::size_t>(study_.selected_column());
  if (column >= study_.columns().size() || !can_learn(study_.columns()[column])) return;
  if (!can_resume()) {
    try {
      begin(column);
    } catch (const Error& error) {
      emit study_.reported(QString::fromStdString(error.what()));
      return;
    }
  }
  steps_.start(
      [this, work = work_](const Backend& backend, Run& run) -> std::function<void()> {
        return [this, step = work->advance(backend, run)] { take(step); };
      },
      [this] { return column_of_run().has_value(); });
  emit changed();
}

void LearningRun::begin(std::size_t column) {
  const ColumnState& state = study_.columns()[column];
  const Column& shown = study_.session().columns[column];
  auto work = std::make_shared<Work>();
  work->problem = study_.head_of(state).problem;
  work->column = shown;
  // A tree of its own that is there already is shown until a later one is better.
  if (const auto steps = learned_steps(work->variant(), shown.values); !steps)
    work->column = work->after(1);
  else if (state.computation && state.tree_learned_on.empty())
    work->known_steps = *steps;
  work->fit = fit_of(work->variant(), work->column.values);
  work->options =
      learning_options(work->fit.parameters, work->fit.goal, shown.seed, work->problem->head);
  pause();
  work_ = std::move(work);
  problem_ = work_->problem;
  before_ = shown_ = shown;
  column_ = column;
  columns_ = study_.session().columns;
  title_ = study_.title_of(static_cast<int>(column));
  // The curves stay when another head is chosen. A title names a head that its column holds.
  const auto source = study_.source();
  const Session& session = study_.session();
  if (!shown.held && (source->layers.size() > 1 || source->layers.front().heads() > 1))
    title_ +=
        " on " + layer_label(*source, session.layer) + ", head " + std::to_string(session.head);
  record_ = {};
  best_.reset();
  done_ = 0;
  diverged_ = false;
}

// The column changes only when the computation that belongs to it is there: it never waits.
void LearningRun::take(const Step& step) {
  for (const LeafSnapshot& snapshot : step.snapshots) record_.add(snapshot);
  record_.tokens = work_->problem->queries();
  record_.leaves = work_->leaves();
  record_.cost_limit = work_->options.cost;
  record_.start = step.start;
  record_.curve = step.curve;
  best_ = step.best;
  done_ = step.steps;
  diverged_ = step.diverged;
  const auto column = column_of_run();
  if (step.computation && column) {
    work_->shown = step.tree;
    study_.put_computation(*column, step.column, step.computation);
    shown_ = step.column;
    editor_.change_during_run("learning",
                              [&](Session& session) { session.columns[*column] = shown_; });
  }
  if (diverged_ || done_ >= most_learning_steps) pause();
  emit changed();
}

void LearningRun::revert() {
  const auto column = column_of_run();
  if (!column || !has_learned()) return;
  pause();
  work_.reset();
  best_.reset();
  editor_.change("", [&](Session& session) { session.columns[*column] = before_; });
  emit changed();
}

}  // namespace fovea

#include "moc_learning_run.cpp"
