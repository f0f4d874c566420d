#include "window/docks/selection_box.h"

#include "study/study.h"
#include "window/docks/reading_words.h"
#include "window/widgets/form.h"
#include "window/widgets/readings.h"

namespace fovea {

SelectionBox::SelectionBox(Study& study) : study_(study) {
  auto* column = make_inner<QVBoxLayout>(this);
  column->addWidget(compared_ = make_note());
  column->addWidget(readings_ = new Readings("Selection"));
  connect(&study, &Study::selection_read, this, [this](const auto& reading) {
    if (reading) show_reading(*reading);
  });
}

void SelectionBox::show_reading(const SelectionReading& reading) {
  const auto pair = [](double exact, double approximate) {
    return number_text(exact) + " → " + weight_text(approximate);
  };
  const auto with_error = [](const QString& text, double standard_error) {
    return standard_error > 0 ? text + " ± " + number_text(standard_error, 2) : text;
  };
  const auto estimates = [&](double share) {  // of the masses
    const auto &exact = reading.exact_mass, &approximate = reading.approximate_mass;
    return with_error(number_text(share * exact.value), share * exact.standard_error) + " → " +
           with_error(weight_text(share * approximate.value), share * approximate.standard_error);
  };
  const QString of_rows =
      reading.sampled() ? QString(", from %1 rows").arg(reading.rows_read) : QString();
  compared_->setText(compared(study_));
  const double keys = reading.cols.size();
  readings_->set_rows(
      {{"queries", range_text(reading.rows), {}},
       {"keys", range_text(reading.cols), {}},
       {"mass per row", estimates(1), "mean over the rows: " + compared(study_) + of_rows},
       {"mean", estimates(1 / keys), "of an entry: " + compared(study_) + of_rows},
       {"largest", pair(reading.exact_max, reading.approximate_max), compared(study_) + of_rows},
       {"rms error",
        with_error(number_text(reading.rms_error.value), reading.rms_error.standard_error),
        "P̃ − P" + of_rows}});
}

}  // namespace fovea

#include "moc_selection_box.cpp"
