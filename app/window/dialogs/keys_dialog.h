// The KeysDialog lists all keys and changes them; a key with two meanings is reported and refused.
#pragma once

#include <QDialog>
#include <QKeySequence>
#include <vector>

class QAction;
class QFormLayout;
class QKeySequenceEdit;
class QLabel;
class QLayout;
class QPushButton;

namespace fovea {

/// Remembers the standard key of an action, and gives it the one that was chosen before.
void set_standard_key(QAction& action, const QKeySequence& keys);

class KeysDialog : public QDialog {
  Q_OBJECT

 public:
  /// Lists the keys of the actions that have a name.
  explicit KeysDialog(const std::vector<QAction*>& actions, QWidget* parent = nullptr);
  /// "F: Fit, Find"; empty if every key means one thing.
  QString conflict() const;
  void accept() override;

 private:
  struct Row {
    QAction* action;
    QKeySequenceEdit* edit;
    QLabel* heading = nullptr;  // of its group
    QLayout* place = nullptr;
  };
  void add_groups(const std::vector<QAction*>& actions);
  void show_found(const QString& words);
  QLayout* make_row(QAction* action);
  void check();
  void restore();

  std::vector<Row> rows_;
  std::vector<QLabel*> headings_;
  QFormLayout* form_;
  QLabel* conflict_;
  QPushButton* save_;
};

}  // namespace fovea
