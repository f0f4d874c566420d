#include "window/spoken_canvas.h"

#include <QAccessible>

#include "canvas/canvas.h"
#include "study/study.h"
#include "window/docks/reading_words.h"
#include "window/widgets/text.h"

namespace fovea {

SpokenCanvas::SpokenCanvas(Study& study, Canvas& canvas)
    : QObject(&canvas), study_(study), canvas_(canvas) {
  connect(&study, &Study::columns_changed, this, &SpokenCanvas::say);
  connect(&study, &Study::session_changed, this, &SpokenCanvas::say);
  connect(&study, &Study::pair_read, this, [this](const auto& pair) {
    pair_ = pair;
    say();
  });
}

void SpokenCanvas::say() {
  QStringList sentences{of_column(), of_pair()};
  sentences.removeAll({});
  const QString words = sentences.join(" ");
  if (words == canvas_.accessibleDescription()) return;
  canvas_.setAccessibleDescription(words);
  QAccessibleEvent changed(&canvas_, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&changed);
}

/// "H-Transformer-1D, column 2 of 7: relative output error 0.526, cost 20 % of exact attention's."
QString SpokenCanvas::of_column() const {
  const int index = study_.selected_column();
  if (index < 0 || index >= std::ssize(study_.columns())) return {};
  const ColumnState& state = study_.columns()[index];
  QStringList numbers;
  const Problem* problem = study_.head_of(state).problem.get();
  const auto figures = figures_of(state, problem && problem->is_causal(),
                                  problem ? problem->recurrence.get() : nullptr);
  if (figures && figures->error)
    numbers << to_qt(figures->error_name) + " " + number_text(*figures->error, 3);
  if (figures && figures->cost)
    numbers << "cost " + to_qt(format_share(*figures->cost)) + " of exact attention's";
  const QString column = QString("%1, column %2 of %3")
                             .arg(to_qt(study_.title_of(index)))
                             .arg(index + 1)
                             .arg(study_.columns().size());
  return column + (numbers.isEmpty() ? "." : ": " + numbers.join(", ") + ".");
}

QString SpokenCanvas::of_pair() const {
  if (!pair_ || !study_.source()) return {};
  return QString("Query %1, key %2: weight %3, exact %4.")
      .arg(query_text(study_, pair_->query), key_text(study_, pair_->key),
           weight_text(pair_->approximate, 3), weight_text(pair_->exact, 3));
}

}  // namespace fovea

#include "moc_spoken_canvas.cpp"
