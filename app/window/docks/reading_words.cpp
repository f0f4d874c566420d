#include "window/docks/reading_words.h"

#include <cmath>

#include "study/study.h"
#include "window/widgets/text.h"

namespace fovea {

QString weight_text(double value, int digits) {
  return std::isnan(value) ? not_known : number_text(value, digits);
}

QString query_text(const Study& study, Index query) {
  return study.model() ? to_qt(study.model()->queries_of(study.selected_column()).numbered(query))
                       : QString::number(query);
}

QString key_text(const Study& study, Index key) {
  return study.model() ? to_qt(study.model()->keys_of(study.selected_column()).numbered(key))
                       : QString::number(key);
}

QString range_text(IndexRange range) {
  return QString("%1–%2").arg(range.begin).arg(range.end - 1);
}

QString compared(const Study& study) {
  const int column = study.selected_column();
  const bool reference = column >= 0 && column < std::ssize(study.columns()) &&
                         is_reference(study.columns()[column].column.variant);
  return reference ? "exact" : "exact → " + to_qt(study.title_of(column));
}

}  // namespace fovea
