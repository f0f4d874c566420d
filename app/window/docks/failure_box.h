// The FailureBox says where the selected column fails: its worst query, the keys that the shown
// query has lost and gained, and the parts of the text that have lost most attention.
#pragma once

#include <QWidget>
#include <memory>

#include "analysis/lost_keys.h"
#include "panels/readings.h"
#include "study/span_readings.h"

class QLabel;

namespace fovea {

class Readings;
class Study;
struct ColumnState;
struct Reading;

class FailureBox : public QWidget {
  Q_OBJECT

 public:
  explicit FailureBox(Study& study);

 signals:
  void query_chosen(fovea::Index query);
  void pair_chosen(fovea::Index query, fovea::Index key);

 private:
  void refresh();
  void show_worst(const ColumnState& state);
  void show_keys();
  void show_spans(bool reference);
  Reading key_row(const ChangedKey& key, bool exact_only) const;
  void show_changed(QLabel& heading, Readings& readings, const QString& title,
                    const std::vector<ChangedKey>& keys);

  Study& study_;
  QLabel *hint_, *top_heading_, *lost_heading_, *gained_heading_, *spans_heading_;
  Readings *worst_, *top_, *lost_, *gained_, *spans_;
  std::shared_ptr<const RowReading> row_, exact_row_;
  std::shared_ptr<const Metrics> worst_of_;  // the errors of which worst_query_ is the worst
  Index worst_query_ = 0;
};

}  // namespace fovea
