// The TimingDock draws a bar a variant: plan, upload and the stages of apply, with what was
// measured.
#pragma once

#include <QWidget>

#include "study/study.h"

namespace fovea {

class TimingDock : public QWidget {
  Q_OBJECT

 public:
  explicit TimingDock(Study& study, QWidget* parent = nullptr);
  void refresh();
  /// How and on what is measured.
  QString conditions() const;
  QSize sizeHint() const override { return {900, 190}; }
  QSize minimumSizeHint() const override { return {360, 96}; }

 signals:
  void column_chosen(int column);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Segment {
    QString name;
    double ms = 0, p10 = 0, p90 = 0;
    int colour = 0;
    friend bool operator==(const Segment&, const Segment&) = default;
  };
  struct Bar {
    QString title, reading, note;
    // total, apply, p10-p90, runs, apply and all against exact, memory counted and measured
    QStringList numbers;
    QString memory;  // in words
    std::vector<Segment> segments;
    double total = 0, whisker_low = 0, whisker_high = 0;
    bool stale = false;
    friend bool operator==(const Bar&, const Bar&) = default;
  };
  std::vector<Bar> bars() const;
  Bar bar_of(const ColumnState& state) const;
  double row_height() const;
  void draw_numbers(QPainter& painter, const QStringList& numbers, const QRectF& row,
                    const QColor& colour);
  void draw_whisker(QPainter& painter, const Bar& bar, double y, double label_width, double scale);
  void draw_bar(QPainter& painter, const Bar& bar, const QRectF& row, double label_width,
                double scale);

  Study& study_;
  std::vector<Bar> bars_;
};

}  // namespace fovea
