// Readings is a table of labels and values that changes in place.
#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QString>
#include <QWidget>
#include <vector>

namespace fovea {

struct Reading {
  QString label, value, tip;
  QString link = {};  // of the label: it can be clicked
};

class Readings : public QWidget {
  Q_OBJECT

 public:
  explicit Readings(const QString& name);
  void set_rows(const std::vector<Reading>& rows);

 signals:
  void link_activated(const QString& link);

 private:
  QGridLayout* grid_;
  std::vector<std::pair<QLabel*, QLabel*>> labels_;
};

}  // namespace fovea
