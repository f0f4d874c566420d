// A MeasuringFooter is the last line of what measures in the background: its state and progress,
// how the last export ended, and buttons to copy and export.
#pragma once

#include <QWidget>
#include <functional>
#include <optional>

class QDialog;
class QLabel;
class QProgressBar;
class QPushButton;

namespace fovea {

struct Background;

class MeasuringFooter : public QWidget {
  Q_OBJECT

 public:
  struct Button {
    QString text, tip;
    std::function<void()> run;
  };
  /// Tests find its text by `name`.
  MeasuringFooter(const QString& name, const Button& copy, const Button& to_export);
  /// Adds a button that closes the dialog.
  void add_close(QDialog& dialog, const QString& tip);

  struct State {
    QString text, tip = {};
    bool warns = false;
    std::optional<double> progress = {};  // in [0, 1], while it measures
    bool can_export = false;
  };
  void show_state(const State& state);
  /// Shows an outcome before the state until the next one; empty for none.
  void set_outcome(const QString& outcome);
  /// Writes a file in the background, and then says how it ended.
  void write(Background& background, const QString& path, std::function<void()> work);
  QString text() const;

 private:
  QPushButton* add_button(const Button& button);
  void refresh();

  QString outcome_;
  State shown_;
  QLabel* state_;
  QProgressBar* progress_;
  QPushButton *copy_, *export_;
};

}  // namespace fovea
