// The SequenceView shows the tokens as chips, or the image, shaded by one query's attention row.
#pragma once

#include <QImage>
#include <QWidget>
#include <vector>

#include "drawing/style.h"
#include "study/session_editor.h"

namespace fovea {

class SequenceView : public QWidget {
  Q_OBJECT

 public:
  /// Which tokens: of a head with as many keys as queries both are the same, and shown as queries.
  enum class Side { queries, keys };

  SequenceView(Study& study, SessionEditor& editor, Side side);
  void set_source(std::shared_ptr<const Source> source);
  /// Another step of the same source, of the same shape: where its tokens are the same nothing
  /// moves.
  void continue_source(std::shared_ptr<const Source> source);
  /// Shows the tokens of this layer: layers may have different ones.
  void set_layer(Index layer);
  void set_row(std::shared_ptr<const RowReading> row);
  /// Numbers of the tokens, from 0, that shade them in place of the row; empty if the row does.
  void set_numbers(std::vector<float> numbers);
  /// Tokens of a chosen leaf or bucket, and tokens that a search found; ascending.
  void set_marked(const std::vector<Index>& queries, const std::vector<Index>& keys);
  void set_found(const std::vector<Index>& tokens);
  /// Scrolls to it; of a long text the part that holds it is shown.
  void show_token(Index token);
  bool shows_image() const {
    return side_ == Side::queries && source_ && source_->sequence.grid && !picture_.isNull();
  }

  int heightForWidth(int width) const override;
  QSize sizeHint() const override { return {240, heightForWidth(240)}; }

 signals:
  void query_hovered(fovea::Index query);  // -1: the pointer has left

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  /// A token of the text, or a patch of the image.
  struct Chip {
    Index token;
    QRectF box;
    QString text = {};
  };
  void fit_height();
  /// Shows the part of the tokens that begins with this one.
  void show_part(Index first);
  void forget_tokens(Index n);
  Index count_in(Index layer) const;
  const Sequence& sequence_in(Index layer) const;
  /// Whether the weights of the row are of these tokens.
  bool shows_row() const { return row_ && n_ == std::ssize(row_->values); }
  std::vector<Chip> lay_out(int width) const;
  std::vector<Chip> lay_out_patches() const;
  Index below(Index token, Index rows) const;
  QRect image_box() const;
  Index at(QPoint point) const;
  double shade(Index key) const;
  Rgb colour_of(double shade) const;
  void paint_text(QPainter& painter);
  void paint_marks(QPainter& painter, const QRectF& box, Index token) const;
  void paint_image(QPainter& painter);

  Study& study_;
  SessionEditor& editor_;
  const Side side_;
  std::shared_ptr<const Source> source_;
  std::shared_ptr<const RowReading> row_;
  float top_ = 0;  // the row's largest weight
  std::vector<float> numbers_;
  float largest_number_ = 0;
  QImage picture_;
  Index layer_ = 0;          // whose tokens are shown
  Index n_ = 0, first_ = 0;  // the token shown first
  std::vector<bool> marked_query_, marked_key_, found_;
  std::vector<Chip> chips_;  // in the order of tokens
  QSize chips_size_;         // for which they were laid out
};

}  // namespace fovea
