// A ValidationRun tries the learned tree of a column on the same head of another source, in the
// background: on a text from which it was not learned. The session names that source.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "session/tree_trial.h"
#include "study/background_run.h"

namespace fovea {

class LearningRun;
class SessionEditor;

class ValidationRun : public QObject {
  Q_OBJECT

 public:
  ValidationRun(Study& study, SessionEditor& editor, const LearningRun& learning,
                QObject* parent = nullptr);
  ~ValidationRun() override;

  /// Reads a file as the opened source is read and tries the tree on it, and each tree that is
  /// learned from now on. The column is the one that learns or has learned, or else the selected
  /// one.
  void start(const std::string& file);
  /// What was found stays. The session no longer names a source.
  void stop();
  /// Trees are tried as they are learned.
  bool active() const { return !address_.empty(); }
  bool running() const { return steps_.running(); }
  /// Whether a column has a learned tree.
  bool can_start() const { return column().has_value(); }

  struct Found {
    Index step = 0;      // steps that the tree has learned
    std::string source;  // a short name of that on which it was tried, too
    TriedTree own, own_median, other, other_median;
  };
  /// What came of the newest tree that was tried; nothing before the first, and for another opened
  /// source.
  const std::optional<Found>& found() const { return found_; }
  /// Why no tree could be tried; empty if one could.
  const std::string& error() const { return error_; }

 signals:
  void changed();

 private:
  struct Work;

  std::optional<std::size_t> column() const;
  void follow_session();
  void begin();
  void end();
  void try_next();
  void forget();

  Study& study_;
  SessionEditor& editor_;
  const LearningRun& learning_;
  BackgroundRun steps_{study_, RequestKind::validation};
  std::string file_;     // that the session names
  std::string address_;  // of the other source; empty if trees are not tried
  std::string name_;
  std::shared_ptr<Work> work_;
  std::shared_ptr<const Operator> tried_;  // whose tree was, or is being, tried
  std::optional<Found> found_;
  std::string error_;
};

}  // namespace fovea
