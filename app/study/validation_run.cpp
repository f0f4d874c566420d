#include "study/validation_run.h"

#include <mutex>
#include <utility>

#include "data/error.h"
#include "input/open_source.h"
#include "study/learning_run.h"
#include "study/session_editor.h"
#include "variants/learned_tree.h"

namespace fovea {

/// What is known on the engine's thread, from one tree to the next.
struct ValidationRun::Work {
  std::string address, name;
  std::shared_ptr<LastModel> last_model;
  std::shared_ptr<const Problem> problem;
  HeadChoice choice;
  Column column;     // as its values were at the first tree: steps aside, they stay
  std::mutex mutex;  // the thread of an older engine may end its step late
  std::optional<TreeTrial> own, other;

  void prepare(const ComputeRequest& request, const Backend& backend, Run& run) {
    if (other) return;
    const Source source = open_source(
        address, {.threads = backend.threads(), .last_model = last_model.get(), .stop = run.stop});
    Problem its = problem_of(source, choice, run.stop);
    if (const auto why = why_not_tried_on(its, problem->d()); !why.empty())
      throw InputError(name, "no learned tree can be tried on it: " + why);
    own.emplace(*problem, request, backend, run);
    other.emplace(std::move(its), request, backend, run);
  }
};

ValidationRun::ValidationRun(Study& study, SessionEditor& editor, const LearningRun& learning,
                             QObject* parent)
    : QObject(parent), study_(study), editor_(editor), learning_(learning) {
  connect(&steps_, &BackgroundRun::changed, this, &ValidationRun::changed);
  for (const auto signal : {&Study::columns_changed, &Study::session_changed})
    connect(&study_, signal, this, [this] {
      follow_session();
      if (!study_.paused()) try_next();  // which would end the cancellation of all work
    });
  connect(&study_, &Study::leaving, this, &ValidationRun::forget);
}

ValidationRun::~ValidationRun() {
  forget();
}

void ValidationRun::forget() {
  file_.clear();
  end();
  found_.reset();
  error_.clear();
  emit changed();
}

void ValidationRun::start(const std::string& file) {
  file_.clear();  // the same file is tried again
  editor_.change("", [&](Session& session) { session.validated_on = file; });
  follow_session();
}

void ValidationRun::stop() {
  end();
  if (!study_.session().validated_on.empty())
    editor_.change("", [](Session& session) { session.validated_on.clear(); });
}

void ValidationRun::follow_session() {
  if (!study_.source() || file_ == study_.session().validated_on) return;
  file_ = study_.session().validated_on;
  file_.empty() ? end() : begin();
}

void ValidationRun::begin() {
  end();
  found_.reset();
  error_.clear();
  try {
    address_ = address_of_other(file_, study_.source()->path);
    name_ = short_name(file_);
  } catch (const Error& error) {
    error_ = error.what();
  }
  try_next();
  emit changed();
}

void ValidationRun::end() {
  steps_.stop();
  address_.clear();
  tried_.reset();
  if (work_) study_.requests().discard(std::move(work_));
  emit changed();
}

std::optional<std::size_t> ValidationRun::column() const {
  const auto at = learning_.column_of_run().value_or(std::size_t(study_.selected_column()));
  if (at >= study_.columns().size() || study_.shows_matrix()) return {};
  const ColumnState& state = study_.columns()[at];
  const bool learned = state.computation && !state.stale &&
                       learned_steps(find_variant(state.column.variant), state.column.values);
  return learned ? std::optional(at) : std::nullopt;
}

void ValidationRun::try_next() {
  const auto at = active() ? column() : std::nullopt;
  if (!at || running()) return;
  const ColumnState& state = study_.columns()[*at];
  const HeadState& head = study_.head_of(state);
  if (state.computation->op == tried_ || !head.problem) return;
  const Variant& variant = find_variant(state.column.variant);
  const Index steps = *learned_steps(variant, state.column.values);
  Column untrained = without_head(state.column);
  set_learned(variant, untrained.values, 1);
  if (!work_ || work_->problem != head.problem || work_->column != untrained) {
    if (work_ && work_->problem != head.problem) found_.reset();  // of another head
    work_ = std::make_shared<Work>();
    work_->address = address_;
    work_->name = name_;
    work_->last_model = study_.last_model();
    work_->problem = head.problem;
    work_->choice = head.key.choice;
    work_->column = untrained;
  }
  const auto op = state.computation->op;
  Structure tree = learned_tensors(variant, state.column.values, op->plan());
  steps_.start(
      [this, work = work_, op, steps, tree = std::move(tree), request = request_of(untrained)](
          const Backend& backend, Run& run) -> std::function<void()> {
        const std::scoped_lock lock(work->mutex);
        Run quiet = run.quiet();
        try {
          work->prepare(request, backend, quiet);
          const Found found{.step = steps,
                            .source = work->name,
                            .own = work->own->tried(tree, backend, quiet),
                            .own_median = work->own->median(),
                            .other = work->other->tried(tree, backend, quiet),
                            .other_median = work->other->median()};
          return [this, op, found] {
            tried_ = op;
            found_ = found;
            steps_.stop();
            try_next();
          };
        } catch (const Cancelled&) {
          throw;
        } catch (const Error& error) {
          return [this, text = std::string(error.what())] {
            error_ = text;
            end();
          };
        }
      },
      [this] { return active(); });
}

}  // namespace fovea

#include "moc_validation_run.cpp"
