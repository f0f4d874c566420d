#include "cli/reports/selections_report.h"

#include "report/text_table.h"

namespace fovea {

Document to_json(const SelectionFigures& f) {
  Document rows = Document::array();
  for (const SelectionFigures::Row& row : f.rows) {
    Document its{{"selection", row.name},
                 {"live_share", number_json(row.live)},
                 {"select_ms", number_json(row.select_ms)},
                 {"apply_ms", number_json(row.apply_ms)}};
    put_speed_up(its, "of_dense_rate", row.of_dense);
    put_speed_up(its, "passes", row.passes);
    rows.push_back(std::move(its));
  }
  return {{"n", f.n},
          {"d", f.d},
          {"causal", f.causal},
          {"device", f.device},
          {"precision", f.precision},
          {"rounds", f.rounds},
          {"dense_ms", f.dense_ms},
          {"dense_gflops", f.dense_rate},
          {"pass_ms", f.pass_ms},
          {"selections", std::move(rows)},
          {"opened",
           {{"queries", f.opened.queries},
            {"most", f.opened.most},
            {"bytes", f.opened.bytes},
            {"ms", f.opened.ms},
            {"peak_bytes", f.opened.peak_bytes}}}};
}

void print(std::ostream& out, const SelectionFigures& f) {
  out << "n = " << f.n << ", d = " << f.d << ", " << (f.causal ? "causal" : "bidirectional") << "; "
      << f.device << ", " << f.precision << "; median of " << plural(f.rounds, "round") << "\n\n";
  TextTable table{{"<selection", "live", "select", "passes", "apply", "of dense rate"}, {}};
  for (const SelectionFigures::Row& row : f.rows)
    table.rows.push_back({row.name, format_percent(row.live, row.live < 0.995 ? 2 : 3),
                          format_time(row.select_ms), format_plain(row.passes.median),
                          format_time(row.apply_ms), format_plain(row.of_dense.median)});
  print(out, table);
  out << "\n  live: pairs that are kept, of those of exact attention. passes: time of selecting, "
         "or of "
         "reading what is\n"
         "  given, over a pass over q and k in the same round. of dense rate: "
         "multiply-adds a second of\n"
         "  apply over those of exact attention in the same round.\n\n";
  print_facts(out, {{"exact attention",
                     format_time(f.dense_ms) + ", " + format_plain(f.dense_rate) + " GFLOP/s"},
                    {"pass over q and k", format_time(f.pass_ms)},
                    {"opening lists",
                     std::to_string(f.opened.queries) + " x " + std::to_string(f.opened.most) +
                         " (" + format_bytes(f.opened.bytes) + ") in " + format_time(f.opened.ms) +
                         ", with " + format_bytes(f.opened.peak_bytes) + " of memory"}});
}

}  // namespace fovea
