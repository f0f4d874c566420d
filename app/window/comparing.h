// Comparing chooses which two columns are compared in the panels of one, by menu, key or pointer.
#pragma once

#include "canvas/canvas.h"
#include "study/study.h"

namespace fovea {

struct Workspace;

class Comparing {
 public:
  explicit Comparing(Workspace& workspace);

  /// Compares the selected column with exact, or exact with the column right of it, in the next
  /// mode; ends the comparison after the last mode.
  void show_next();
  /// Compares in this mode, or ends a comparison that is already in this mode.
  void show(ComparisonMode mode);
  /// The mode in which the selected column is compared; nothing if it is not.
  std::optional<ComparisonMode> mode() const;
  /// Ends the comparison; false if there was none.
  bool end();

 private:
  void compare(const std::optional<Comparison>& comparison);
  void compare_selected(std::optional<ComparisonMode> mode);

  Workspace& workspace_;
  Study& study_;
};

}  // namespace fovea
