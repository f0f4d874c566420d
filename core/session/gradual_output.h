// A GradualOutput finds the output of a long computation band of rows by band of rows, nearest
// first to what a person looks at, and the maps of its weights in the same pass.
#pragma once

#include <memory>

#include "analysis/map_pyramid.h"
#include "evaluate/computation.h"

namespace fovea {

class GradualOutput {
 public:
  /// The operator of `prepared` has_rows(). The maps are the max and the mean of its weights; every
  /// row of the output is found here, whatever the maps know already.
  GradualOutput(std::shared_ptr<const Computation> prepared, std::shared_ptr<MapPyramid> most,
                std::shared_ptr<MapPyramid> mean);

  /// Finds one more band, in about `budget_ms`, next to a query; false if that was the last.
  bool advance(Index focus_row, double budget_ms, Run& run);
  double share() const { return done_.share(); }

  /// Called when everything is found. Returns the computation with its output, the same object each
  /// time; its time is that of all bands together.
  std::shared_ptr<const Computation> finish();

 private:
  std::shared_ptr<const Computation> prepared_;
  std::shared_ptr<MapPyramid> most_, mean_;
  Output output_;                             // until it is complete
  std::shared_ptr<const Computation> whole_;  // once it is complete
  DoneRows done_;                             // rows of pixels
  Profile profile_;
  Index band_ = 2;  // rows of pixels
};

}  // namespace fovea
