#include "cli/reports/interaction_report.h"

#include <algorithm>
#include <cmath>

#include "data/text.h"
#include "data/utf8.h"
#include "report/text_table.h"

namespace fovea {
namespace {

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(
      std::llround(share * static_cast<double>(values.size() - 1)))];
}

Document spread(const std::vector<double>& values) {
  return {{"median", percentile(values, 0.5)},
          {"p90", percentile(values, 0.9)},
          {"p99", percentile(values, 0.99)},
          {"max", percentile(values, 1)},
          {"samples", values.size()}};
}

std::string spread_text(const std::vector<double>& values) {
  return format_time(percentile(values, 0.5)) + ", p99 " + format_time(percentile(values, 0.99)) +
         ", longest " + format_time(percentile(values, 1)) + " (" + std::to_string(values.size()) +
         ")";
}

}  // namespace

Document to_json(const InteractionFigures& f) {
  return {{"input", f.source},
          {"device", f.device},
          {"n", f.n},
          {"d", f.d},
          {"canvas", {f.width, f.height}},
          {"open_to_estimate_ms", f.estimate_ms},
          {"read_to_estimate_ms", f.first_look_ms},
          {"settled_1_to_1_ms", f.settled_ms},
          {"own_work_of_a_frame_ms", spread(f.own_ms)},
          {"frame_ms", spread(f.frame_ms)},
          {"empty_frame_ms", spread(f.empty_ms)},
          {"filling_own_work_longest_ms", f.filling_own_ms},
          {"filling_gap_longest_ms", f.filling_gap_ms},
          {"open_to_exact_s", f.exact_s},
          {"closing_ms", f.closing_ms},
          {"peak_bytes", f.peak_bytes}};
}

void print(std::ostream& out, const InteractionFigures& f) {
  const std::string settled = join(f.settled_ms, [](double ms) { return format_time(ms); });
  out << printable(f.source) << ": n = " << f.n << ", d = " << f.d << "; " << f.device
      << ", canvas " << f.width << " x " << f.height << "\n\n";
  print_facts(out, {{"first estimate", format_time(f.estimate_ms) + " after opening, " +
                                           format_time(f.first_look_ms) + " after it was read"},
                    {"settled at 1:1", settled},
                    {"own work of a frame", spread_text(f.own_ms)},
                    {"frame, input to screen", spread_text(f.frame_ms)},
                    {"of an empty window", spread_text(f.empty_ms)},
                    {"while filling", "own work at most " + format_time(f.filling_own_ms) +
                                          ", window unresponsive for at most " +
                                          format_time(f.filling_gap_ms)},
                    {"all exact", format_plain(f.exact_s) + " s after opening"},
                    {"closing", format_time(f.closing_ms) + " until all work has ended"},
                    {"peak memory", format_bytes(f.peak_bytes)}});
}

}  // namespace fovea
