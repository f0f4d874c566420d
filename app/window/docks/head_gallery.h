// The HeadGallery shows a small heatmap of every head; the chosen one is framed.
#pragma once

#include <QImage>
#include <QWidget>
#include <map>
#include <vector>

#include "study/study.h"

namespace fovea {

class HeadGallery : public QWidget {
  Q_OBJECT

 public:
  enum class Order { index, error, entropy, density };

  explicit HeadGallery(Study& study, QWidget* parent = nullptr);
  void set_layer(std::optional<Index> layer);  // nullopt: of all layers
  void set_order(Order order);
  void refresh();
  /// In the order shown.
  const std::vector<std::pair<Index, Index>>& heads() const { return heads_; }

  int heightForWidth(int width) const override;
  QSize sizeHint() const override { return {240, heightForWidth(240)}; }

 signals:
  void head_chosen(fovea::Index layer, fovea::Index head);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void fit_height();
  using Head = std::pair<Index, Index>;  // layer, head
  int per_row(int width) const;
  int side(int width) const;
  QRect place(std::size_t i) const;
  int at(QPoint point) const;
  const QImage& picture(const std::shared_ptr<const HeadCard>& card);
  QString caption(const HeadCard& card) const;
  QString name_of(const Head& head) const;
  /// What the heads are sorted by, else which one it is.
  QString label(const Head& head, const HeadCard* card) const;
  void paint_card(QPainter& painter, const QRect& box, const Head& head);
  void describe();

  Study& study_;
  std::optional<Index> layer_;
  Order order_ = Order::index;
  std::vector<Head> heads_;
  struct Drawn {
    std::shared_ptr<const HeadCard> card;  // kept, so that its address is its name
    QImage image;
  };
  std::map<const HeadCard*, Drawn> pictures_;
  std::string colormap_;  // of the pictures
};

}  // namespace fovea
