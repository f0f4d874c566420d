// A Fold is a part of a page under a heading that opens and closes it.
#pragma once

#include <QWidget>

class QToolButton;

namespace fovea {

class Fold : public QWidget {
  Q_OBJECT

 public:
  /// `id` names the fold among the settings of the program, which remember whether it is open.
  Fold(const QString& id, const QString& title, QWidget* body, bool open_at_first = true);

  void set_title(const QString& title);
  /// Writes the title like a note, rather than like a heading.
  void make_light();
  bool is_open() const;
  void set_open(bool open);

 signals:
  void toggled(bool open);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void show_state(bool open);
  void show_title();

  QString title_;
  QToolButton* heading_;
  QWidget* body_;
};

}  // namespace fovea
