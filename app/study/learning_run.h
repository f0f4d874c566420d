// A LearningRun learns the tree of a column in the background, while the column shows the best tree
// so far: its parameter `steps` counts up, and its pictures follow.
#pragma once

#include <memory>
#include <optional>

#include "panels/learning_panels.h"
#include "study/background_run.h"

namespace fovea {

class SessionEditor;

class LearningRun : public QObject {
  Q_OBJECT

 public:
  LearningRun(Study& study, SessionEditor& editor, QObject* parent = nullptr);
  ~LearningRun() override;

  /// Whether a column has a tree that can be learned, and its head is there.
  bool can_learn(const ColumnState& column) const;
  /// Learns the tree of the selected column, from its start or, where it was paused and is as it
  /// was then, from there.
  void learn();
  /// The column keeps the best tree so far.
  void pause() { steps_.stop(); }
  /// The column is as it was before learning began. Nothing happens where it has changed since.
  void revert();

  bool running() const { return steps_.running(); }
  bool waiting() const { return steps_.waiting(); }  // for other requests
  /// Whether learn() goes on where it was paused.
  bool can_resume() const;
  bool can_revert() const { return column_of_run().has_value() && has_learned(); }
  /// The column that learns or has learned, as it is now; nothing if it was changed or removed.
  std::optional<std::size_t> column_of_run() const;

  /// The record of the column that learns or has learned last. Empty before the first start.
  const LearningRecord& record() const { return record_; }
  /// The best tree so far. Null if nothing was learned yet.
  const MeasuredTree* best() const { return best_ ? &*best_ : nullptr; }
  Index steps() const { return done_; }
  bool diverged() const { return diverged_; }
  /// What the column was called at the start.
  const std::string& title() const { return title_; }

 signals:
  void changed();

 private:
  struct Work;
  struct Step;

  bool has_learned() const { return best_.has_value(); }
  void begin(std::size_t column);
  void take(const Step& step);

  Study& study_;
  SessionEditor& editor_;
  BackgroundRun steps_;
  std::shared_ptr<Work> work_;  // null: nothing was learned, or it was reverted
  std::shared_ptr<const Problem> problem_;
  Column before_, shown_;                // the column before learning, and as it was left
  mutable std::vector<Column> columns_;  // all, when they were last looked at
  mutable std::size_t column_ = 0;       // of these
  LearningRecord record_;
  std::optional<MeasuredTree> best_;
  Index done_ = 0;
  bool diverged_ = false;
  std::string title_;
};

}  // namespace fovea
