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
    const Layer& layer = source.layers[static_cast<std::size_t>(l)];
    if (!layer.has_qk() || (scope != HeadScope::source && l != choice.layer)) continue;
    for (Index h = 0; h < layer.heads(); ++h)
      if (scope != HeadScope::head || h == choice.head)
        heads.push_back(
            {.layer = l, .head = h, .lengths = layer.lengths(), .d = layer.d(), .dv = layer.dv()});
  }
  return heads;
}

/// What the canvas shows of the opened head. A tree that is still being learned is left out.
std::vector<OwnSetting> columns_of(const Study& study) {
  const HeadChoice choice = choice_of(study.session());
  std::vector<OwnSetting> own;
  for (const ColumnState& state : study.columns()) {
    const Column& column = state.column;
    const ComputeRequest request = request_of(column);
    if (column.held || request.variant->reference || request.variant->imported) continue;
    OwnSetting setting{request.variant, request.values, request.seed};
    if (learned_steps(*request.variant, request.values)) {
      if (!state.computation || state.stale) continue;
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
  for (const auto other_source : {&Study::source_continued, &Study::leaving})
    connect(&study_, other_source, this, [this] {
      stop();
      free_heads();
    });
}

ExplorationRun::~ExplorationRun() {
  stop();
  free_heads();
}

// The trials stay. What they were compared with, up to half a gigabyte, would not be used again.
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

void ExplorationRun::start(HeadScope scope, ExploreOptions options, const QString& provenance) {
  if (!study_.source()) return;
  const Subject of = present(scope);
  auto heads = heads_in(*of.source, scope, of.choice);
  if (heads.empty()) return;
  stop();
  of_ = of;
  options.own = columns_of(study_);
  options_ = std::move(options);
  heads_ = std::move(heads);
  provenance_ = provenance;
  const auto open = [of](const ExploredHead& head, const std::stop_token& stop) {
    HeadChoice choice = of.choice;
    choice.layer = head.layer;
    choice.head = head.head;
    return problem_of(*of.source, choice, stop);
  };
  free_heads();
  std::vector<const Variant*> all;
  for (const Variant& variant : variants()) all.push_back(&variant);
  explorer_ = std::make_shared<Explorer>(heads_, open, std::move(all), options_);
  total_ = explorer_->total();
  trials_ = std::make_shared<const std::vector<Trial>>();
  done_ = 0;
  seconds_spent_ = 0;
  go_on();
}

void ExplorationRun::resume() {
  if (can_resume()) go_on();
}

void ExplorationRun::go_on() {
  steps_.start(
      [this, explorer = explorer_](const Backend& backend, Run& run) -> std::function<void()> {
        // The first trial is shown at once, later ones ten times a second; where they are many,
        // less often.
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
                                  trials.size(), explorer->seconds_spent()}] { take(now); };
      },
      [this] { return study_.source() == of_.source; });
  emit changed();
}

bool ExplorationRun::stale() const {
  return of_.source && !(present(of_.scope) == of_);
}

double ExplorationRun::seconds_left() const {
  if (done_ == 0) return 0;
  return seconds_spent_ * static_cast<double>(total_ - done_) / static_cast<double>(done_);
}

bool ExplorationRun::tries_all_columns() const {
  return std::ranges::all_of(columns_of(study_), [&](const OwnSetting& column) {
    const auto same = [&](const auto& other) {
      return other.variant == column.variant && other.values == column.values &&
             other.seed == column.seed;
    };
    return std::ranges::any_of(options_.own, same) || std::ranges::any_of(*trials_, same);
  });
}

void ExplorationRun::take(const Progress& progress) {
  study_.requests().discard(std::exchange(trials_, progress.comparable));
  done_ = progress.done;
  seconds_spent_ = progress.seconds_spent;
  if (!complete()) return emit changed();
  free_heads();
  stop();
}

}  // namespace fovea

#include "moc_exploration_run.cpp"
