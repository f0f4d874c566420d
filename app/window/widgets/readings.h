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
};

class Readings : public QWidget {
  Q_OBJECT

 public:
  explicit Readings(const QString& name, QWidget* parent = nullptr);
  void set_rows(const std::vector<Reading>& rows);

 private:
  QGridLayout* grid_;
  std::vector<std::pair<QLabel*, QLabel*>> labels_;
};

/// Four significant digits, "infinite" for infinities.
QString number_text(double value);
/// "1.23 ms", "45 µs", "2.1 s".
QString time_text(double milliseconds);
/// "1.2 G", "340 k".
QString count_text(double count);
/// "12.3 MiB".
QString bytes_text(double bytes);

}  // namespace fovea
