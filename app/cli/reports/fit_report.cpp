#include "cli/reports/fit_report.h"

#include "data/utf8.h"
#include "report/text_table.h"

namespace fovea {
namespace {

Document tree_json(const MeasuredTree& tree) {
  return {{"error", number_json(tree.error)},
          {"held_out_error", number_json(tree.held_out_error)},
          {"chi", number_json(tree.skew.chi)},
          {"effective_leaves_of_keys", number_json(tree.skew.keys.effective_leaves)},
          {"effective_leaves_of_queries", number_json(tree.skew.queries.effective_leaves)},
          {"queries_without_keys", tree.skew.queries_without_keys}};
}

Document curve_json(const std::vector<CurvePoint>& curve) {
  Document out = Document::array();
  for (const CurvePoint& point : curve)
    out.push_back({{"step", point.step},
                   {"loss", number_json(point.loss)},
                   {"gradient_norm",
                    point.gradient_norm ? number_json(*point.gradient_norm) : Document(nullptr)},
                   {"error", number_json(point.error)},
                   {"held_out_error", number_json(point.held_out_error)},
                   {"chi", number_json(point.chi)},
                   {"effective_leaves_of_keys", number_json(point.effective_leaves)}});
  return out;
}

Document head_json(const FittedHead& head) {
  Document best = tree_json(head.best.measured);
  best["step"] = head.best.step;
  if (!head.best.alpha.empty()) best["alpha"] = head.best.alpha;
  return {{"head", head.head},         {"steps", head.steps},
          {"diverged", head.diverged}, {"start", tree_json(head.start)},
          {"best", std::move(best)},   {"curve", curve_json(head.curve)}};
}

}  // namespace

Document to_json(const FitReport& report) {
  Document out{{"source", report.source},
               {"layer", report.layer},
               {"variant", report.variant->id},
               {"parameters", parameters_json(*report.variant, report.values)},
               {"bootstrap", report.bootstrap},
               {"credit", report.credit},
               {"seed", report.seed},
               {"leaves", report.leaves},
               {"seconds", report.seconds},
               {"output", report.output},
               {"heads", Document::array()}};
  for (const FittedHead& head : report.heads) out["heads"].push_back(head_json(head));
  if (!report.validation.empty()) out["validation"] = to_json(report.validation);
  return out;
}

void print(std::ostream& out, const FitReport& report) {
  TextTable table{
      {"head", "steps", "best at", "error", "held out", "before", "χ × leaves", "before"}, {}};
  for (const FittedHead& h : report.heads)
    table.rows.push_back(
        {std::to_string(h.head), std::to_string(h.steps), std::to_string(h.best.step),
         format_plain(h.best.measured.error), format_plain(h.best.measured.held_out_error),
         format_plain(h.start.held_out_error), format_plain(h.best.measured.cost(report.leaves)),
         format_plain(h.start.cost(report.leaves))});
  print(out, table);
  out << "\n  error: relative output error, of the rows learned from and of those held out; "
         "exact attention has 0, Z = 0 has 1; before: of the tree that learning began with\n"
      << "  learned in " << format_time(1e3 * report.seconds) << "; written to "
      << printable(report.output) << '\n';
  print(out, report.validation);
}

}  // namespace fovea
