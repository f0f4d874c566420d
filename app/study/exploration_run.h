// An ExplorationRun tries settings of variants on heads of the study's source, in the background.
#pragma once

#include <QElapsedTimer>
#include <memory>
#include <vector>

#include "study/background_run.h"
#include "sweep/explorer.h"

namespace fovea {

/// Which heads of the opened source.
enum class HeadScope { head, layer, source };

class ExplorationRun : public QObject {
  Q_OBJECT

 public:
  explicit ExplorationRun(Study& study, QObject* parent = nullptr);
  ~ExplorationRun() override;

  /// All variants but those `left_out`, and the columns of the canvas, with the mask and scale of
  /// the session. A tree that a column has learned is tried on its head alone. Nothing happens
  /// without Q, K and V.
  void start(HeadScope scope, ExploreOptions options, const QString& provenance,
             std::vector<const Variant*> left_out = {});
  /// After a complete run: the columns of the canvas that it did not try. What it tried is kept.
  void try_new_columns();
  /// Whether the setting is that of a column of the canvas, now.
  bool is_on_canvas(const SettingSpread& setting) const;
  /// What was tried is kept.
  void stop() { steps_.stop(); }
  /// Goes on where it was stopped.
  void resume();

  bool running() const { return steps_.running(); }
  bool can_resume() const { return explorer_ && !running() && !complete() && !stale(); }
  bool waiting() const { return steps_.waiting(); }  // for other requests
  const QString& waiting_text() const { return steps_.waiting_text(); }
  bool complete() const { return done_ == total_; }
  /// The source, the mask, the scale, the back end, or the head or layer that was asked for has
  /// changed since.
  bool stale() const;

  /// Whether a column of the canvas has a tree that is not yet learned, and so is not tried.
  bool waits_for_trees() const;

  /// The longest beginning of what was done in which every setting was tried on the same heads;
  /// never null.
  std::shared_ptr<const std::vector<Trial>> trials() const { return trials_; }
  /// That the trials are of; null before the first start, and once another one is opened.
  std::shared_ptr<const Source> source() const { return of_.source; }
  const std::vector<ExploredHead>& heads() const { return heads_; }
  HeadScope scope() const { return of_.scope; }
  std::size_t done() const { return done_; }
  std::size_t total() const { return total_; }
  const ExploreOptions& options() const { return options_; }
  const std::vector<const Variant*>& left_out() const { return left_out_; }
  double seconds_left() const;  // 0: too early to say
  /// As given at the start.
  const QString& provenance() const { return provenance_; }

 signals:
  void changed();

 private:
  struct Subject {
    std::shared_ptr<const Source> source;
    HeadScope scope = HeadScope::head;
    HeadChoice choice;  // layer and head are 0 where the scope holds all of them
    int engine = 0;
    friend bool operator==(const Subject&, const Subject&) = default;
  };
  Subject present(HeadScope scope) const;
  std::vector<OwnSetting> new_columns() const;
  std::shared_ptr<Explorer> explorer_for(std::vector<const Variant*> variants) const;
  void go_on();
  /// Forgets what was tried.
  void leave();
  void free_heads();
  struct Progress {
    std::shared_ptr<const std::vector<Trial>> comparable;
    std::size_t done = 0, total = 0;
    double seconds_spent = 0;
  };
  void take(const Progress& progress);

  Study& study_;
  BackgroundRun steps_{study_, RequestKind::trials};
  Subject of_;
  std::shared_ptr<Explorer> explorer_;  // used by the engine while a step runs; null if not needed
  ExploreOptions options_;
  std::vector<const Variant*> left_out_;
  std::vector<ExploredHead> heads_;
  std::shared_ptr<const std::vector<Trial>> trials_;
  std::vector<Trial> earlier_;  // of a run that was complete, before new columns were tried
  std::size_t done_ = 0, total_ = 0;
  double seconds_spent_ = 0;
  QString provenance_;
};

}  // namespace fovea
