// A Figure is one measured row of the kernels' benchmark; figures make a result file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/sampled_rows.h"

namespace fovea::bench {

struct Spread {
  double median = 0, p10 = 0, p90 = 0;
  int samples = 0;
};
Spread spread_of(std::vector<double> samples);
/// The range between the quartiles, over the median.
double relative_spread(std::vector<double> samples);

struct Figure {
  std::string what, precision, settings, kernel, note;
  Index n = 0, heads = 0, d = 0;
  bool causal = false;
  Spread kernel_ms;                                 // kernels alone, by events on the device
  Spread end_to_end_ms;                             // from Q, K, V to Z in the memory of the host
  std::map<std::string, Spread> stages;             // ms, transfers too
  std::map<std::string, Spread> end_to_end_stages;  // ms (EndToEnd)
  Spread speed_up;  // over exact of the same group, pair by pair; 0 if unknown
  double multiply_adds = 0;
  double floor_ms = 0;            // on an H200 (bench_kernels.cpp: floors); 0 if none known
  RowErrors error, error_peaked;  // on random and on peaked logits
};

/// What was not timed, and why.
struct Refused {
  std::string what, precision;
  Index n = 0, heads = 0;
  bool causal = false;
  std::string reason;
};

struct About {
  std::string commit, date, device, driver;
  std::map<std::string, double> bandwidths;  // GB/s (bandwidth.h)
};

/// JSON, one line for each figure.
std::string to_json(const About& about, const std::vector<Figure>& figures,
                    const std::vector<Refused>& refused);
/// A table as text.
std::string to_table(const std::vector<Figure>& figures);

}  // namespace fovea::bench
