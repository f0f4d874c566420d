// The HeadGallery shows a small heatmap of every head; the chosen one is framed. A head can also be
// shown beside it, in a column of its own.
#pragma once

#include <QImage>
#include <QListWidget>
#include <map>
#include <vector>

#include "input/sort_orders.h"
#include "study/session_editor.h"

namespace fovea {

class HeadGallery : public QListWidget {
  Q_OBJECT

 public:
  using Head = std::pair<Index, Index>;  // layer, head

  HeadGallery(Study& study, SessionEditor& editor);
  void set_layer(std::optional<Index> layer);  // nullopt: of all layers
  void set_order(HeadOrder order);
  Head head(int row) const { return shown_[row].head; }
  void draw(QPainter& painter, QRect cell, int row);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  QModelIndex moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) override;

 private:
  struct Shown {
    Head head;
    std::shared_ptr<const HeadCard> card;  // null: not there yet
  };
  /// What captions and order follow from, besides the cards.
  struct Followed {
    std::shared_ptr<const Source> source;
    Session session;
    int selected_column = 0;
    friend bool operator==(const Followed&, const Followed&) = default;
  };
  void refresh();
  void fit_height();
  const QImage& picture(const std::shared_ptr<const HeadCard>& card);
  double measure(const Shown& shown) const;
  QString name_of(const Head& head) const;
  bool can_be_beside(const Head& head) const;
  void show_beside(const Head& head);
  /// What the heads are sorted by, else which one it is.
  QString label(const Shown& shown) const;

  Study& study_;
  SessionEditor& editor_;
  std::optional<Index> layer_;
  Followed followed_;
  HeadOrder order_ = HeadOrder::index;
  std::vector<Shown> shown_;
  std::map<std::shared_ptr<const HeadCard>, QImage> pictures_;
  std::string colormap_;  // of the pictures
};

}  // namespace fovea
