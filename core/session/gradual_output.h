// A GradualOutput is the output of a long computation found band of rows by band of rows, nearest
// to what is looked at first, with the maps of its weights in the same pass.
#pragma once

#include <memory>

#include "analysis/map_pyramid.h"
#include "session/computation.h"

namespace fovea {

class GradualOutput {
 public:
  /// `prepared`: its operator has_rows(). The maps are of its weights, max and mean; whatever they
  /// know already, every row of the output is found here.
  GradualOutput(std::shared_ptr<const Computation> prepared, std::shared_ptr<MapPyramid> most,
                std::shared_ptr<MapPyramid> mean);

  /// One more band of about `budget_ms`, next to a query; false if that was the last.
  bool advance(Index focus_row, double budget_ms, Run& run);
  double share() const { return done_.share(); }

  /// When all is there: the computation with its output, the same each time; its time is that of
  /// all bands together.
  std::shared_ptr<const Computation> finish();

 private:
  std::shared_ptr<const Computation> prepared_;
  std::shared_ptr<MapPyramid> most_, mean_;
  Output output_;                             // until it is complete
  std::shared_ptr<const Computation> whole_;  // then
  DoneRows done_;                             // rows of pixels
  Profile profile_;
  Index band_ = 2;  // rows of pixels
};

}  // namespace fovea
