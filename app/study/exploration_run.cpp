#include "study/exploration_run.h"

#include <algorithm>
#include <utility>

#include "session/held_head.h"
#include "variants/learned_tree.h"

namespace fovea {
namespace {

std::vector<ExploredHead> heads_in(const Source& source, HeadScope scope,
                                   const HeadChoice& choice) {
  std::vector<ExploredHead> heads;
  for (Index l = 0; l < std::ssize(source.layers); ++l) {
    const Layer& layer = source.layers[l];
    if (!layer.has_qk() || (scope != HeadScope::source && l != choice.layer)) continue;
    for (Index h = 0; h < layer.heads(); ++h)
      if (scope != HeadScope::head || h == choice.head)
        heads.push_back(
            {.layer = l, .head = h, .lengths = layer.lengths(), .d = layer.d(), .dv = layer.dv()});
  }
  return heads;
}

bool is_being_learned(const ColumnState& state) {
  const ComputeRequest request = request_of(state.column);
  return state.error.empty() && learned_steps(*request.variant, request.values) &&
         (!state.computation || state.stale);
}

/// What the canvas shows of the opened head. A tree that is still being learned is left out.
std::vector<OwnSetting> columns_of(const Study& study) {
  const HeadChoice choice = choice_of(study.session());
  std::vector<OwnSetting> own;
  for (const ColumnState& state : study.columns()) {
    const Column& column = state.column;
    const ComputeRequest request = request_of(column);
    if (column.held || request.variant->reference || request.variant->imported) continue;
    if (!state.computation || is_being_learned(state)) continue;
    OwnSetting setting{.variant = request.variant,
                       .values = request.values,
                       .seed = request.seed,
                       .n = study.length()};
    if (learned_steps(*request.variant, request.values)) {
      setting.given =
          learned_tensors(*request.variant, request.values, state.computation->op->plan());
      setting.only = std::pair(choice.layer, choice.head);
    }
    own.push_back(std::move(setting));
  }
  return own;
}

}  // namespace

ExplorationRun::ExplorationRun(Study& study, QObject* parent)
    : QObject(parent), study_(study), trials_(std::make_shared<const std::vector<Trial>>()) {
  connect(&steps_, &BackgroundRun::changed, this, &ExplorationRun::changed);
  for (const auto other_source : {&Study::source_continued, &Study::source_grew, &Study::leaving})
    connect(&study_, other_source, this, &ExplorationRun::leave);
}

ExplorationRun::~ExplorationRun() {
  stop();
  free_heads();
}

// Trials of another source are never shown, and the source of a model may take a gigabyte.
void ExplorationRun::leave() {
  stop();
  free_heads();
  if (!of_.source) return;
  of_.source.reset();
  heads_.clear();
  earlier_.clear();
  trials_ = std::make_shared<const std::vector<Trial>>();
  done_ = 0;
  emit changed();
}

// What trials were compared with, up to half a gigabyte, would not be used again.
void ExplorationRun::free_heads() {
  if (explorer_) study_.requests().discard(std::move(explorer_));
}

ExplorationRun::Subject ExplorationRun::present(HeadScope scope) const {
  const Session& session = study_.session();
  Subject of{study_.source(), scope, choice_of(session), study_.requests().engine_number()};
  if (scope == HeadScope::source) of.choice.layer = 0;
  if (scope != HeadScope::head) of.choice.head = 0;
  return of;
}

void ExplorationRun::start(HeadScope scope, ExploreOptions options, const QString& provenance,
                           std::vector<const Variant*> left_out) {
  if (!study_.source()) return;
  const Subject of = present(scope);
  auto heads = heads_in(*of.source, scope, of.choice);
  if (heads.empty()) return;
  stop();
  of_ = of;
  options.own = columns_of(study_);
  options_ = std::move(options);
  left_out_ = std::move(left_out);
  heads_ = std::move(heads);
  provenance_ = provenance;
  free_heads();
  std::vector<const Variant*> tried;
  for (const Variant& variant : variants())
    if (std::ranges::find(left_out_, &variant) == left_out_.end()) tried.push_back(&variant);
  explorer_ = explorer_for(std::move(tried));
  earlier_.clear();
  total_ = explorer_->total();
  trials_ = std::make_shared<const std::vector<Trial>>();
  done_ = 0;
  seconds_spent_ = 0;
  go_on();
}

std::shared_ptr<Explorer> ExplorationRun::explorer_for(std::vector<const Variant*> variants) const {
  const auto open = [of = of_](const ExploredHead& head, const std::stop_token& stop) {
    HeadChoice choice = of.choice;
    choice.layer = head.layer;
    choice.head = head.head;
    return problem_of(*of.source, choice, stop);
  };
  return std::make_shared<Explorer>(heads_, open, std::move(variants), options_);
}

void ExplorationRun::try_new_columns() {
  if (running() || total_ == 0 || !complete() || stale()) return;
  std::vector<OwnSetting> columns = new_columns();
  if (columns.empty()) return;
  earlier_ = *trials_;
  options_.own = std::move(columns);
  explorer_ = explorer_for({});
  total_ = earlier_.size() + explorer_->total();
  done_ = earlier_.size();
  go_on();
}

void ExplorationRun::resume() {
  if (can_resume()) go_on();
}

void ExplorationRun::go_on() {
  steps_.start(
      [this, explorer = explorer_](const Backend& backend, Run& run) -> std::function<void()> {
        // The first trial is delivered at once, later ones ten times a second, or less often if
        // they are many.
        const qint64 batch_ms = std::max<qint64>(100, qint64(explorer->trials().size() / 10));
        QElapsedTimer timer;
        timer.start();
        const bool first = explorer->trials().empty();
        while (explorer->step(backend, run) && !first && timer.elapsed() < batch_ms) {
        }
        const auto& trials = explorer->trials();
        const auto end = trials.begin() + static_cast<std::ptrdiff_t>(explorer->comparable());
        return
            [this, now = Progress{std::make_shared<const std::vector<Trial>>(trials.begin(), end),
                                  trials.size(), explorer->total(), explorer->seconds_spent()}] {
              take(now);
            };
      },
      [this] { return study_.source() == of_.source; });
  emit changed();
}

bool ExplorationRun::stale() const {
  return of_.source && !(present(of_.scope) == of_);
}

double ExplorationRun::seconds_left() const {
  if (done_ == 0 || options_.learned_steps > 0) return 0;  // trees take longer, and come last
  return seconds_spent_ * static_cast<double>(total_ - done_) / static_cast<double>(done_);
}

bool ExplorationRun::waits_for_trees() const {
  return std::ranges::any_of(study_.columns(), is_being_learned);
}

bool ExplorationRun::is_on_canvas(const SettingSpread& setting) const {
  return std::ranges::any_of(study_.columns(), [&](const ColumnState& state) {
    const ComputeRequest shown = request_of(state.column);
    return !state.column.held && !shown.variant->reference && shown.variant == setting.variant &&
           shown.values == setting.values && shown.seed == setting.seed &&
           setting.n == study_.length();
  });
}

// A tree that was learned for one head is another setting on each head.
std::vector<OwnSetting> ExplorationRun::new_columns() const {
  std::vector<OwnSetting> columns = columns_of(study_);
  std::erase_if(columns, [&](const OwnSetting& column) {
    return std::ranges::any_of(*trials_, [&](const Trial& trial) {
      return trial.variant == column.variant && trial.values == column.values &&
             trial.seed == column.seed &&
             (!column.only || *column.only == std::pair(trial.layer, trial.head));
    });
  });
  return columns;
}

void ExplorationRun::take(const Progress& progress) {
  auto all = progress.comparable;
  if (!earlier_.empty()) {  // exact attention, which is tried first, is among them
    auto both = std::make_shared<std::vector<Trial>>(earlier_);
    for (const Trial& trial : *progress.comparable)
      if (!trial.variant->reference) both->push_back(trial);
    all = both;
  }
  study_.requests().discard(std::exchange(trials_, std::move(all)));
  done_ = earlier_.size() + progress.done;
  total_ = earlier_.size() + progress.total;
  seconds_spent_ = progress.seconds_spent;
  if (!complete()) return emit changed();
  free_heads();
  stop();
}

}  // namespace fovea

#include "moc_exploration_run.cpp"
