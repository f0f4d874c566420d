// A FitReport is the result of `fovea fit`, written as JSON and as text.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "cli/fit_validation.h"
#include "learning/trainer.h"
#include "report/json_output.h"

namespace fovea {

struct FittedHead {
  Index head = 0, steps = 0;
  bool diverged = false;
  MeasuredTree start;
  LearnedTree best;
  std::vector<CurvePoint> curve;
};

struct FitReport {
  std::string source, output, credit;
  Index layer = 0, leaves = 1, bootstrap = 0;
  const Variant* variant = nullptr;
  Values values;
  std::uint64_t seed = 0;
  double seconds = 0;  // of learning
  std::vector<FittedHead> heads;
  std::vector<ValidatedSource> validation;  // empty if it was not asked for
};

Document to_json(const FitReport& report);
void print(std::ostream& out, const FitReport& report);

}  // namespace fovea
