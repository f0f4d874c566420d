// An EffectRun measures what the variant of the selected column does to the opened model's own
// output, in the background: in the chosen heads, in more and more of the last layers, in each head
// alone, and under a budget.
#pragma once

#include <QObject>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "effect/head_estimates.h"
#include "effect/layer_curve.h"
#include "effect/policy_search.h"
#include "study/background_run.h"
#include "study/session_editor.h"

namespace fovea {

class EffectRun : public QObject {
  Q_OBJECT

 public:
  EffectRun(Study& study, SessionEditor& editor, QObject* parent = nullptr);
  ~EffectRun() override;

  /// Why nothing can be measured now, in words; empty if something can.
  QString obstacle() const;
  /// The heads in which attention is replaced, as the Session says; all if it names heads that the
  /// opened model does not have. Nothing without a model.
  const std::optional<ChosenHeads>& chosen() const { return chosen_; }
  /// `chosen` is of the opened model. A step of undo; choices soon after each other are one.
  void choose(const ChosenHeads& chosen);

  /// Measures the selected column in the chosen heads, then the curve over the last layers.
  void measure();
  /// Estimates each chosen head, then measures each, or each layer of them, alone.
  void measure_alone(UnitKind units);
  /// Looks for a policy of these variants in the chosen heads.
  void find_policy(std::vector<ReplacedPart> candidates, PolicyBudget budget, UnitKind units);
  /// Measures parts that a file says.
  void measure_policy(std::vector<ReplacedPart> parts, const std::string& title);
  /// What was measured is kept.
  void stop() { steps_.stop(); }

  bool running() const { return steps_.running(); }
  bool waiting() const { return steps_.waiting(); }  // for other requests
  const QString& waiting_text() const { return steps_.waiting_text(); }
  /// What the last start was for.
  enum class Task { none, column, alone, policy, file };
  Task task() const { return task_; }
  /// What is being measured, in words; empty if nothing is.
  QString doing() const;

  /// What was found so far; all of it is of one model and input.
  struct Found {
    std::vector<ReplacedPart> parts;    // that were measured last
    std::string title;                  // of the column, or which policy it is
    bool is_policy = false;             // the parts are not those of a column
    std::optional<ModelEffect> effect;  // nothing before the first measurement
    std::optional<ReplacedPart> of;     // what all below are of, but the search; in all heads
    std::string title_of;
    std::vector<LayerPoint> curve;
    std::size_t curve_points = 0;            // that there will be
    std::optional<HeadEstimates> estimates;  // of the heads in `alone`
    std::optional<HeadEffects> alone;
    std::optional<PolicySearch> search;
  };
  const Found& found() const { return found_; }
  /// Whether the selected column or the chosen heads are no longer those that were measured.
  bool stale() const;
  /// The variant of the selected column in the chosen heads; nothing if obstacle() says why.
  std::optional<ReplacedPart> part() const;
  /// The columns of the canvas that can take the place of exact attention, in the chosen heads.
  std::vector<ReplacedPart> candidates() const;
  /// The address of the model and its input.
  const std::string& address() const;

 signals:
  void changed();

 private:
  struct Meter;
  struct Work;

  /// Why a column cannot take the place of exact attention; empty if it can.
  static QString obstacle_of(const Column& column);
  ReplacedPart part_of(const Column& column) const;
  void start(Task task, std::shared_ptr<Work> work);
  /// Passes with these parts and exact ones take turns from now on.
  void time_next(Work& work, std::vector<ReplacedPart> parts);
  /// Makes the part what curve, estimates and single effects are of.
  void look_at(const ReplacedPart& part);
  void leave();
  void opened();
  /// Takes the heads from the Session.
  void follow_session();

  Study& study_;
  SessionEditor& editor_;
  BackgroundRun steps_{study_, RequestKind::effect};
  std::shared_ptr<Meter> meter_;  // of the opened model; used by the engine while a step runs
  std::optional<ChosenHeads> chosen_;
  Found found_;
  std::string address_;                    // of what was found
  std::optional<ReplacedPart> part_then_;  // part() when it was measured
  Task task_ = Task::none;
  QString doing_;
};

}  // namespace fovea
