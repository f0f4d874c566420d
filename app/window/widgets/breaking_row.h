// A BreakingRow lays out its groups of controls in one row, or each in a row of its own if the
// groups do not fit beside each other.
#pragma once

#include <QBoxLayout>
#include <QWidget>
#include <vector>

namespace fovea {

class BreakingRow : public QWidget {
 public:
  BreakingRow();
  /// A row for controls that stay beside each other.
  QHBoxLayout* add_group();

 protected:
  bool event(QEvent* event) override;

 private:
  void lay_out();

  QBoxLayout* groups_;
  std::vector<QHBoxLayout*> rows_;
};

}  // namespace fovea
