// Comparing chooses which two columns are compared in the panels of one, by menu, key or pointer.
#pragma once

#include "canvas/canvas.h"
#include "study/study.h"

namespace fovea {

class MainWindow;

class Comparing {
 public:
  explicit Comparing(MainWindow& window);

  /// The selected column is compared with exact, and exact with the column right of it, in the
  /// next mode; after the last mode no longer.
  void show_next();
  /// The same in this mode; in this mode already: no longer.
  void show(ComparisonMode mode);
  /// The mode in which the selected column is compared; nothing if it is not.
  std::optional<ComparisonMode> mode() const;
  /// False: nothing was compared.
  bool end();

 private:
  void compare(const std::optional<Comparison>& comparison);
  void compare_selected(std::optional<ComparisonMode> mode);

  MainWindow& window_;
  Study& study_;
};

}  // namespace fovea
