// The InspectorDock says what is under the cursor and what is selected.
#pragma once

#include <QWidget>

#include "gui/forms/readings.h"
#include "gui/study.h"

namespace fovea {

class InspectorDock : public QWidget {
  Q_OBJECT

 public:
  explicit InspectorDock(Study& study, QWidget* parent = nullptr);
  void show_pair(std::shared_ptr<const PairReading> reading, int column);
  void show_selection(std::shared_ptr<const SelectionReading> reading);

 private:
  QString position_text(Index i) const;

  Study& study_;
  QLabel *hint_, *selection_hint_;
  Readings *pair_, *selection_;
};

}  // namespace fovea
