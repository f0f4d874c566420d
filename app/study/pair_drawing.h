// A PairDrawing draws on the pairs of a column: it includes those of a rectangle, or excludes them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/drawn_pairs.h"
#include "study/study.h"

namespace fovea {

class SessionEditor;

class PairDrawing : public QObject {
  Q_OBJECT

 public:
  PairDrawing(Study& study, SessionEditor& editor) : study_(study), editor_(editor) {}

  /// Includes the pairs of the selected rectangle in the selected column, or excludes them, in
  /// whole blocks. If the column is not drawn, a drawn column with its pairs is made right of it;
  /// beside exact attention it begins with no pair, or with all of them. The pairs of another
  /// variant are read on the engine's thread: the rectangle is selected at once, and the column
  /// comes when they are there. Returns why it cannot, as a sentence without its full stop; empty
  /// if it did. What fails later is reported by the Study.
  std::string draw(bool includes);

 signals:
  /// Pairs were drawn in the selected column.
  void drawn();

 private:
  /// Rectangles that wait for the pairs of a column.
  struct Waiting {
    std::weak_ptr<const Computation> computation;  // of the column
    std::vector<DrawnRectangle> added;
  };

  void read_pairs(const std::shared_ptr<const Computation>& computation, Index block,
                  const DrawnRectangle& added);
  void finish(std::optional<DrawnPairs> pairs, const std::string& error);

  Study& study_;
  SessionEditor& editor_;
  Waiting waiting_;
};

}  // namespace fovea
