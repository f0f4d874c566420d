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
  return values[std::llround(share * static_cast<double>(values.size() - 1))];
}

/// Null if nothing was measured.
Document spread(const std::vector<double>& values) {
  if (values.empty()) return nullptr;
  return {{"median", percentile(values, 0.5)},
          {"p90", percentile(values, 0.9)},
          {"p99", percentile(values, 0.99)},
          {"max", percentile(values, 1)},
          {"samples", values.size()}};
}

std::string spread_text(const std::vector<double>& values) {
  if (values.empty()) return "not measured";
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
          {"one_to_one_tokens", f.one_to_one},
          {"settled_1_to_1_ms", f.settled_ms},
          {"hover_ms", spread(f.hover_ms)},
          {"zoom_first_change_ms", spread(f.zoom_ms)},
          {"zoom_sharp_ms", spread(f.sharp_ms)},
          {"another_head_ms", spread(f.head_ms)},
          {"another_head_all_pictures_ms", spread(f.all_of_head_ms)},
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
  print_facts(
      out,
      {{"first estimate", format_time(f.estimate_ms) + " after opening, " +
                              format_time(f.first_look_ms) + " after it was read"},
       {"hover", spread_text(f.hover_ms)},
       {"zoom, first change", spread_text(f.zoom_ms)},
       {"zoom, until sharp", spread_text(f.sharp_ms)},
       {"another head",
        f.head_ms.empty() ? "not measured: the source has one head" : spread_text(f.head_ms)},
       {"all of its pictures", spread_text(f.all_of_head_ms)},
       {"frame on a path", spread_text(f.frame_ms)},
       {"its own work", spread_text(f.own_ms)},
       {"frame of an empty window", spread_text(f.empty_ms)},
       {"settled", settled + " after the path, in " + std::to_string(f.settled_ms.size()) +
                       " views of " + std::to_string(f.one_to_one) + " tokens"},
       {"while filling", "own work at most " + format_time(f.filling_own_ms) +
                             ", window unresponsive for at most " + format_time(f.filling_gap_ms)},
       {"all exact", format_plain(f.exact_s) + " s after opening"},
       {"closing", format_time(f.closing_ms) + " until all work has ended"},
       {"peak memory", format_bytes(f.peak_bytes)}});
}

}  // namespace fovea
