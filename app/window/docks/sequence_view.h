// The SequenceView shows the tokens as chips, or the image, shaded by one query's attention row.
#pragma once

#include <QImage>
#include <QWidget>
#include <vector>

#include "study/study.h"

namespace fovea {

class SequenceView : public QWidget {
  Q_OBJECT

 public:
  explicit SequenceView(Study& study, QWidget* parent = nullptr);
  void set_source(std::shared_ptr<const Source> source);
  /// Of the layer that is shown: layers may have different ones.
  void set_length(Index n);
  void set_row(std::shared_ptr<const RowReading> row);
  /// Tokens of a chosen leaf or bucket, and tokens that a search found; ascending.
  void set_marked(const std::vector<Index>& queries, const std::vector<Index>& keys);
  void set_found(const std::vector<Index>& tokens);
  /// Scrolls to it; of a long text the part that holds it is shown.
  void show_token(Index token);
  bool shows_image() const { return source_ && source_->sequence.grid && !picture_.isNull(); }

  int heightForWidth(int width) const override;
  QSize sizeHint() const override { return {240, heightForWidth(240)}; }

 signals:
  void query_hovered(fovea::Index query);  // -1: left
  void query_chosen(fovea::Index query);   // by the pointer
  void query_stepped(fovea::Index query);  // to it, by keys

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void fit_height();
  struct Chip {
    Index token;
    QRect box;
    QString text;
  };
  int lay_out(int width, std::vector<Chip>* chips) const;
  QRect image_box() const;
  Index at(QPoint point) const;
  void paint_tokens(QPainter& painter);
  void paint_marks(QPainter& painter, const QRectF& box, Index token) const;
  QRectF patch_box(Index token) const;  // empty: not of the image
  void paint_image(QPainter& painter);
  double shade(Index key) const;

  Study& study_;
  std::shared_ptr<const Source> source_;
  std::shared_ptr<const RowReading> row_;
  float top_ = 0;
  QImage picture_;
  Index n_ = 0, first_ = 0;  // the token shown first
  std::vector<bool> marked_query_, marked_key_, found_;
  mutable std::vector<Chip> chips_;
  mutable int chips_width_ = -1;
};

}  // namespace fovea
