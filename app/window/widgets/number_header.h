// A NumberHeader has the numbers of the rows or columns of a table of pictures: every second or
// fifth where cells are narrow, and always that of the marked one.
#pragma once

#include <QHeaderView>

namespace fovea {

/// The letters on pictures and beside them.
QFont smaller(QFont font);

class NumberHeader : public QHeaderView {
 public:
  NumberHeader(Qt::Orientation orientation, QWidget* parent);
  /// Marks a row or a column; none if it is -1.
  void mark(int section);
  /// What the widest number needs.
  QSize room() const;

 protected:
  void paintSection(QPainter* painter, const QRect& rect, int section) const override;

 private:
  QString text(int section) const;
  /// How many cells there are for each number.
  int step(int width) const;

  int marked_ = -1;
};

}  // namespace fovea
