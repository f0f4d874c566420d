// A SweepRun measures a Sweep of the study's head on its engine, in the background: what a person
// does goes first, and the sweep ends when another head is chosen.
#pragma once

#include <QObject>
#include <memory>

#include "study/background_run.h"
#include "sweep/sweeper.h"

namespace fovea {

class SweepRun : public QObject {
  Q_OBJECT

 public:
  explicit SweepRun(Study& study, QObject* parent = nullptr);
  ~SweepRun() override;

  /// There is a head, with as many keys as queries.
  bool can_start() const;
  /// Sweeps over the columns as they are now. Does nothing if it cannot start.
  void start(const SweepLimits& limits, const QString& provenance);
  void stop() { steps_.stop(); }

  bool running() const { return steps_.running(); }
  bool complete() const { return sweep_.complete; }
  /// What has been measured so far; empty before the first start.
  const Sweep& sweep() const { return sweep_; }
  /// The head or a column has changed since.
  bool stale() const;
  /// Columns that hold a head of their own: a sweep is of the opened head.
  int left_out() const { return left_out_; }
  /// Source, head and back end, as they were at the start.
  const QString& provenance() const { return provenance_; }

  struct Status {
    QString doing;            // "HyperAttention at n = 4096"; empty if not started
    double seconds_left = 0;  // 0: too early to say
    double fraction = 0;
  };
  const Status& status() const { return status_; }
  /// For other requests.
  bool waiting() const { return steps_.waiting(); }
  const QString& waiting_text() const { return steps_.waiting_text(); }

 signals:
  void changed();

 private:
  struct Step;
  void take(const Step& step);

  Study& study_;
  BackgroundRun steps_{study_, RequestKind::sweep};
  Sweep sweep_;
  Status status_;
  QString provenance_;
  std::weak_ptr<const Problem> problem_;  // it is not held when another head is shown
  bool started_ = false;
  std::vector<Column> columns_;
  int left_out_ = 0;
};

}  // namespace fovea
