#include "study/effect_run.h"

#include <algorithm>
#include <utility>

#include "data/error.h"
#include "data/model_address.h"
#include "input/open_source.h"
#include "study/source_opening.h"
#include "variants/learned_tree.h"

namespace fovea {

/// The meter of an address, on one engine.
struct EffectRun::Meter {
  std::string address;
  int engine = 0;
  std::unique_ptr<EffectMeter> meter;  // null before the first step

  EffectMeter& opened(const std::shared_ptr<LastModel>& last_model, const Backend& backend,
                      Run& run) {
    if (!meter)
      meter = effect_meter(address, {.threads = backend.threads(),
                                     .last_model = last_model.get(),
                                     .stop = run.stop,
                                     .reached = [&run](double share) { run.reached(share); }});
    return *meter;
  }
};

/// What is to be measured, in this order. A step that was cancelled is made again.
struct EffectRun::Work {
  std::vector<ReplacedPart> parts;  // empty if they are measured already
  std::vector<ReplacedPart> timed;  // empty unless passes are still to take turns
  EffectTimes times;
  std::optional<LayerCurve> curve;
  std::optional<HeadEstimates> estimates;
  std::optional<HeadEffects> alone;
  std::optional<PolicySearch> search;
};

EffectRun::EffectRun(Study& study, SessionEditor& editor, QObject* parent)
    : QObject(parent), study_(study), editor_(editor) {
  connect(&steps_, &BackgroundRun::changed, this, [this] {
    if (!running()) doing_.clear();
    emit changed();
  });
  for (const auto other_source : {&Study::source_continued, &Study::leaving})
    connect(&study_, other_source, this, &EffectRun::leave);
  connect(&study_, &Study::leaving, this, [this] { chosen_.reset(); });
  connect(&study_, &Study::opened, this, &EffectRun::opened);
  connect(&study_, &Study::session_changed, this, &EffectRun::follow_session);
}

EffectRun::~EffectRun() {
  leave();
}

// The meter holds a model, and the hidden states of all its layers.
void EffectRun::leave() {
  stop();
  if (meter_) study_.requests().discard(std::move(meter_));
  meter_.reset();
  found_ = {};
  task_ = Task::none;
  emit changed();
}

void EffectRun::opened() {
  if (address_ != address()) leave();  // the model reads something else
  follow_session();
  emit changed();
}

// Until all layers are there the heads stay those of the text before.
void EffectRun::follow_session() {
  if (study_.growing()) return;
  const auto source = study_.source();
  const bool is_model = source && is_model_address(source->path) && !source->layers.empty();
  std::optional<ChosenHeads> chosen;
  if (is_model) {
    const Index layers = std::ssize(source->layers), heads = source->layers.front().heads();
    const std::string& text = study_.session().replaced_heads;
    try {
      chosen = text.empty() ? ChosenHeads(layers, heads) : ChosenHeads(text, layers, heads);
    } catch (const UsageError&) {  // heads of another model
      chosen.emplace("all", layers, heads);
    }
  }
  if (chosen == chosen_) return;
  chosen_ = std::move(chosen);
  emit changed();
}

QString EffectRun::obstacle() const {
  if (!chosen_ && study_.growing()) return "The layers of the model are still to come";
  if (!chosen_)
    return "Open a model with a text or an image: what an attention does to a model's output is "
           "measured in the model itself";
  if (chosen_->size() == 0) return "Choose the heads in which attention is replaced";
  const auto selected = static_cast<std::size_t>(study_.selected_column());
  const auto& columns = study_.session().columns;
  if (selected >= columns.size()) return "Select the column of a variant";
  return obstacle_of(columns[selected]);
}

QString EffectRun::obstacle_of(const Column& column) {
  const Variant& variant = find_variant(column.variant);
  if (variant.imported || variant.reference)
    return "Select the column of a variant: exact attention changes nothing";
  if (learned_steps(variant, column.values))
    return "The tree of this column was learned for one head; select a column with another tree";
  return {};
}

std::optional<ReplacedPart> EffectRun::part() const {
  if (!obstacle().isEmpty()) return {};
  return part_of(study_.session().columns[study_.selected_column()]);
}

std::vector<ReplacedPart> EffectRun::candidates() const {
  std::vector<ReplacedPart> parts;
  if (!chosen_) return parts;
  for (const Column& column : study_.session().columns) {
    if (!obstacle_of(column).isEmpty()) continue;
    ReplacedPart part = part_of(column);
    if (std::ranges::find(parts, part) == parts.end()) parts.push_back(std::move(part));
  }
  return parts;
}

ReplacedPart EffectRun::part_of(const Column& column) const {
  return part_with(find_variant(column.variant), column.values, column.seed, chosen_->text());
}

const std::string& EffectRun::address() const {
  return study_.session().source;
}

bool EffectRun::stale() const {
  const auto now = part();
  return found_.effect &&
         (found_.is_policy ? now != part_then_ : !now || found_.parts != std::vector{*now});
}

void EffectRun::choose(const ChosenHeads& chosen) {
  if (chosen_ == chosen) return;
  editor_.change("replaced heads",
                 [&](Session& session) { session.replaced_heads = chosen.text(); });
  follow_session();
}

void EffectRun::look_at(const ReplacedPart& part) {
  ReplacedPart anywhere = part;
  anywhere.heads = "all";
  if (found_.of == anywhere) return;
  found_.of = std::move(anywhere);
  found_.title_of = study_.title_of(study_.selected_column());
  found_.curve.clear();
  found_.curve_points = 0;
  found_.estimates.reset();
  found_.alone.reset();
}

void EffectRun::measure() {
  const auto part = this->part();
  if (!part) return;
  look_at(*part);
  auto work = std::make_shared<Work>();
  work->parts = {*part};
  if (found_.curve_points == 0 || found_.curve.size() < found_.curve_points) {
    work->curve.emplace(*found_.of, chosen_->layers());
    found_.curve_points = work->curve->count();
  }
  found_.parts = work->parts;
  found_.title = found_.title_of;
  found_.effect.reset();
  found_.is_policy = false;
  start(Task::column, std::move(work));
}

void EffectRun::measure_policy(std::vector<ReplacedPart> parts, const std::string& title) {
  if (!chosen_) return;
  auto work = std::make_shared<Work>();
  work->parts = parts;
  found_.parts = std::move(parts);
  found_.title = title;
  found_.effect.reset();
  found_.is_policy = true;
  start(Task::file, std::move(work));
}

void EffectRun::measure_alone(UnitKind units) {
  const auto part = this->part();
  if (!part) return;
  look_at(*part);
  auto work = std::make_shared<Work>();
  work->estimates.emplace(study_.source(), *part, *chosen_);
  work->alone.emplace(std::vector{*part}, *chosen_, units);
  found_.estimates.reset();
  found_.alone.reset();
  start(Task::alone, std::move(work));
}

void EffectRun::find_policy(std::vector<ReplacedPart> candidates, PolicyBudget budget,
                            UnitKind units) {
  if (!chosen_ || chosen_->size() == 0 || candidates.empty()) return;
  auto work = std::make_shared<Work>();
  work->search.emplace(HeadEffects(std::move(candidates), *chosen_, units), budget);
  found_.search.reset();
  start(Task::policy, std::move(work));
}

void EffectRun::start(Task task, std::shared_ptr<Work> work) {
  task_ = task;
  address_ = address();
  part_then_ = part();
  const int engine = study_.requests().engine_number();
  if (!meter_ || meter_->address != address() || meter_->engine != engine) {
    if (meter_) study_.requests().discard(std::move(meter_));
    meter_ = std::make_shared<Meter>(Meter{address(), engine, nullptr});
  }
  steps_.start(
      [this, work, meter = meter_, last_model = study_.last_model()](
          const Backend& backend, Run& run) -> std::function<void()> {
        if (work->estimates) {
          work->estimates->step(backend, run);
          return [this, work, estimates = *work->estimates] {
            doing_ = "Estimating heads";
            found_.estimates = estimates;
            if (estimates.complete()) work->estimates.reset();
            emit changed();
          };
        }
        EffectMeter& its = meter->opened(last_model, backend, run);
        if (!work->parts.empty())
          return [this, work, effect = its.measure(work->parts, run)]() mutable {
            found_.effect = std::move(effect);
            time_next(*work, std::exchange(work->parts, {}));
          };
        if (!work->timed.empty()) {
          EffectTimes times = work->times;
          its.time(work->timed, run, times);
          return [this, work, times = std::move(times)] {
            found_.effect->times = work->times = times;
            if (!Rounds().wants_more(times)) {
              work->timed.clear();
              doing_ = work->curve ? "Replacing the last layers" : "";
              if (!work->curve) stop();
            }
            emit changed();
          };
        }
        if (work->curve) {
          work->curve->step(its, run);
          return [this, work, curve = work->curve->found(), done = work->curve->complete()] {
            found_.curve = curve;
            if (done) stop();
            emit changed();
          };
        }
        if (work->alone) {
          work->alone->step(its, run);
          return [this, alone = *work->alone] {
            doing_ = QString("%1 of %2 measured").arg(alone.found().size()).arg(alone.count());
            found_.alone = alone;
            if (alone.complete()) stop();
            emit changed();
          };
        }
        work->search->step(its, run);
        return [this, work, search = *work->search] {
          doing_ = QString::fromStdString(search.doing());
          found_.search.emplace(search);
          if (!search.complete()) return emit changed();
          if (const MeasuredPolicy* best = search.best()) {
            found_.parts = best->parts;
            found_.effect = best->effect;
            found_.title = "the policy that was found";
            found_.is_policy = true;
            return time_next(*work, best->parts);
          }
          stop();
          emit changed();
        };
      },
      [this, path = address()] { return address() == path; });
  doing_ = "Running the model";
  emit changed();
}

void EffectRun::time_next(Work& work, std::vector<ReplacedPart> parts) {
  work.timed = std::move(parts);
  work.times = {};
  doing_ = "Timing passes in turn";
  emit changed();
}

QString EffectRun::doing() const {
  return waiting() ? waiting_text() : doing_;
}

}  // namespace fovea

#include "moc_effect_run.cpp"
