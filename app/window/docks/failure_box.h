// The FailureBox says where the selected column fails: its worst query, the keys that the shown
// query has lost and gained, and the parts of the text that have lost most attention.
#pragma once

#include <QWidget>
#include <memory>
#include <optional>
#include <utility>

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
  /// The listed query, and the key whose weight has fallen most in it. Empty if no key is known.
  const std::optional<std::pair<Index, Index>>& most_lost() const { return most_lost_; }

 signals:
  void query_chosen(fovea::Index query);
  void pair_chosen(fovea::Index query, fovea::Index key);
  /// The keys of the listed query are known.
  void keys_listed(fovea::Index query);

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
  std::optional<std::pair<Index, Index>> most_lost_;  // query, key
};

}  // namespace fovea
