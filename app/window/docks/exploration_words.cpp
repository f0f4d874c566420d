#include "window/docks/exploration_words.h"

#include <algorithm>

#include "window/widgets/text.h"

namespace fovea {

QString state_text(const ExplorationRun& run, bool is_current) {
  if (run.running()) {
    if (run.waiting()) return run.waiting_text();
    QString text = QString("%1 of %2 trials").arg(run.done()).arg(run.total());
    if (run.stale())
      text += to_qt(" of " + to_text(run.heads(), *run.source())) + ", which is no longer shown";
    if (run.seconds_left() > 1) text += QString(", %1 s left").arg(run.seconds_left(), 0, 'f', 0);
    return text;
  }
  if (run.total() == 0) return {};
  if (!is_current) return "Another file was opened since: measure again";
  if (run.stale()) return "Another head, mask, scale or back end was chosen since: measure again";
  if (!run.complete())
    return QString("Stopped after %1 of %2 trials").arg(run.done()).arg(run.total());
  return provenance_text(run, true);
}

QString extent_text(const ExplorationRun& run) {
  return QString("%1 of %2 trials").arg(run.trials()->size()).arg(run.total());
}

QString left_out_text(const ExplorationRun& run, const std::vector<SettingSpread>& settings) {
  if (run.trials()->empty()) return {};
  QStringList parts;
  const auto refused =
      std::ranges::count_if(settings, [](const auto& s) { return s.heads == 0 && s.refused > 0; });
  if (refused > 0)
    parts << to_qt(plural(refused, "setting")) +
                 (refused == 1 ? " does not apply" : " do not apply") +
                 (run.heads().size() == 1 ? " to this head" : " to these heads") + " (hover: why)";
  QStringList left_out;
  for (const Variant* variant : run.left_out()) left_out << to_qt(variant->label);
  if (run.options().learned_steps == 0) {
    const bool on_canvas = std::ranges::any_of(
        run.options().own, [](const OwnSetting& own) { return own.only.has_value(); });
    left_out << (on_canvas ? "learned trees other than those on the canvas" : "learned trees");
  }
  if (run.waits_for_trees()) left_out << "a tree of the canvas that is being learned";
  if (!left_out.isEmpty()) parts << "Not tried: " + left_out.join(", ");
  if (!run.complete() && !run.running())
    parts << QString("Not compared yet: %1 trials, of which %2 are done")
                 .arg(run.total() - run.trials()->size())
                 .arg(run.done() - run.trials()->size());
  return parts.join(". ");
}

QString why_refused_text(const ExplorationRun& run) {
  QStringList lines;
  for (const Trial& trial : *run.trials()) {
    if (trial.refused.empty()) continue;
    const QString line = to_qt(trial.variant->label + ": " + trial.refused);
    if (!lines.contains(line)) lines << line;
  }
  return plain_tip(lines.join("\n"));
}

QString provenance_text(const ExplorationRun& run, bool names_source) {
  const Source& source = *run.source();
  QString text = names_source ? to_qt(source.name + ", ") : "";
  text += to_qt(to_text(run.heads(), source)) + "; " + run.provenance();
  if (!run.complete()) text += "; " + extent_text(run);
  return text;
}

}  // namespace fovea
