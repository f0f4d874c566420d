// Readings is a table of labels and values that changes in place, and can be copied.
#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QString>
#include <QWidget>
#include <vector>

#include "data/marked_table.h"

namespace fovea {

struct Reading {
  QString label, value, tip;
  QString link = {};                     // makes the label a link
  QString second = {}, second_tip = {};  // a value beside the other one
  QString name = {};                     // the full name, if the label is shortened
  bool faint = false;                    // the values stand back
};

class Readings : public QWidget {
  Q_OBJECT

 public:
  explicit Readings(const QString& name);
  void set_rows(const std::vector<Reading>& rows);

 signals:
  void link_activated(const QString& link);

 protected:
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  struct Row {
    QLabel *label, *value, *second;
    bool wide = true;  // the value takes the room of the second, too
  };
  Row make_row(int at);
  void show_row(Row& row, int at, const Reading& reading);
  MarkedTable table() const;
  QString text_at(QPoint at) const;

  QGridLayout* grid_;
  std::vector<Row> labels_;
  std::vector<Reading> rows_;
};

}  // namespace fovea
