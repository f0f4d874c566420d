#include "study/triage_run.h"

#include <atomic>
#include <utility>

#include "data/error.h"

namespace fovea {
namespace {

std::vector<ExploredHead> all_heads(const Source& source) {
  std::vector<ExploredHead> heads;
  for (Index l = 0; l < std::ssize(source.layers); ++l)
    for (Index h = 0; h < source.layers[l].heads(); ++h) heads.push_back({.layer = l, .head = h});
  return heads;
}

/// A head that cannot be triaged has an error, and the others go on.
TriageRun::Row triaged(const Source& source, const HeadChoice& choice, const ExploredHead& head,
                       const TriageRule& rule, const Backend& backend, Run& run) {
  TriageRun::Row row{.head = head, .triage = {}, .error = {}};
  HeadChoice its = choice;
  its.layer = head.layer;
  its.head = head.head;
  try {
    const Problem problem = problem_of(source, its, run.stop);
    const Computation exact = prepare(problem, {.variant = &reference_variant()}, backend, run);
    row.triage = triage_head(*exact.op, rule, backend, run);
  } catch (const Cancelled&) {
    throw;
  } catch (const DeviceLostError&) {  // it would fail for all
    throw;
  } catch (const Error& error) {
    row.error = error.what();
  }
  return row;
}

}  // namespace

TriageRun::TriageRun(Study& study, QObject* parent) : QObject(parent), study_(study) {
  connect(&steps_, &BackgroundRun::changed, this, [this] {
    halted_ = !running();
    emit changed();
  });
  for (const auto other_source : {&Study::source_continued, &Study::source_grew, &Study::leaving})
    connect(&study_, other_source, this, &TriageRun::leave);
}

TriageRun::~TriageRun() {
  stop();
}

TriageRun::Subject TriageRun::present(const TriageRule& rule) const {
  HeadChoice choice = choice_of(study_.session());
  choice.layer = choice.head = 0;
  return {study_.source(), choice, study_.requests().engine_number(), rule};
}

void TriageRun::want(const TriageRule& rule) {
  Subject of = present(rule);
  if (!of.source) return;
  if (!(of == of_)) begin(std::move(of));
  if (!halted_) resume();
}

void TriageRun::pause() {
  const bool halted = halted_;
  stop();
  halted_ = halted;
}

void TriageRun::resume() {
  if (of_.source && !complete() && !running()) go_on();
}

void TriageRun::begin(Subject of) {
  stop();
  halted_ = false;
  of_ = std::move(of);
  rows_.clear();
  left_out_.clear();
  done_ = 0;
  for (const ExploredHead& head :
       heads_with_patterns(*of_.source, all_heads(*of_.source), left_out_))
    rows_.push_back({.head = head, .triage = {}, .error = {}});
  computed_on_ = study_.backend().device() + ", " + study_.backend().precision();
  emit changed();
}

void TriageRun::leave() {
  stop();
  if (!of_.source) return;
  of_.source.reset();
  rows_.clear();
  left_out_.clear();
  done_ = 0;
  emit changed();
}

void TriageRun::go_on() {
  halted_ = false;
  std::vector<ExploredHead> heads;
  for (const Row& row : rows_) heads.push_back(row.head);
  // The step reads the place of its head on the engine's thread. The function that the step returns
  // moves the place on, on this thread.
  const auto next = std::make_shared<std::atomic<std::size_t>>(done_);
  steps_.start(
      [this, of = of_, heads = std::move(heads), next](const Backend& backend,
                                                       Run& run) -> std::function<void()> {
        const Row row = triaged(*of.source, of.choice, heads[*next], of.rule, backend, run);
        return [this, row, next] {
          ++*next;
          take(row);
        };
      },
      [this] { return present(of_.rule) == of_; });
  emit changed();
}

void TriageRun::take(const Row& row) {
  rows_[done_++] = row;
  if (complete()) return stop();
  emit changed();
}

}  // namespace fovea

#include "moc_triage_run.cpp"
