// The HeadGallery shows a small heatmap of every head; the opened one is framed. The heads of all
// layers are a grid, a row for each layer, if these have as many heads; else, or sorted, the cells
// flow. A head can also be shown beside the opened one, in a column of its own.
#pragma once

#include <QImage>
#include <QPointer>
#include <QScrollArea>
#include <QTableView>
#include <QTimer>
#include <map>
#include <vector>

#include "input/sort_orders.h"
#include "study/session_editor.h"
#include "window/docks/head_bars.h"
#include "window/docks/head_grid.h"

namespace fovea {

class HeadGallery : public QTableView {
  Q_OBJECT

 public:
  using Head = HeadGrid::Head;

  HeadGallery(Study& study, SessionEditor& editor);
  void set_layer(std::optional<Index> layer);  // nullopt: of all layers
  void set_order(HeadOrder order);
  /// A place in head_measures() for a bar in each cell, or nothing for no bars.
  void set_bars(std::optional<std::size_t> measure);
  int count() const { return int(cells_.heads().size()); }
  Head head(int place) const { return cells_.heads()[std::size_t(place)]; }
  QRect place_of(const Head& head) const { return visualRect(cells_.cell_of(head)); }
  /// The next place is a window of its own: no dock limits the height.
  void leave_dock();
  bool is_grid() const { return is_grid_; }
  /// The side of a cell in pixels.
  int side() const { return side_; }
  void draw(QPainter& painter, QRect cell, const QModelIndex& index);
  static constexpr int least_side = 16, most_side = 160;

 signals:
  /// Heads that are sorted still lack what they are sorted by: "31 of 270". Empty: none does.
  void filled(const QString& share);

 protected:
  bool event(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  QModelIndex moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) override;

 private:
  struct Picture {
    std::shared_ptr<const HeadCard> card;
    QImage image;      // in the size of a cell; null if it is to be drawn again
    bool old = false;  // of a text before
  };
  /// What captions and order follow from, besides the cards.
  struct Followed {
    std::shared_ptr<const Source> source;
    Session session;
    int selected_column = 0;
    friend bool operator==(const Followed&, const Followed&) = default;
  };
  void refresh();
  bool fits_grid(const Source& source) const;
  void cards_changed();
  void say_share();
  void lay_out(std::shared_ptr<const Source> source, std::vector<Head> heads);
  /// The side and the number of columns of `all` cells that flow.
  std::pair<int, int> flow(QSize room, int all) const;
  static bool is_zoom(const QKeyEvent& event);
  void zoom(double factor, QPoint around);
  void zoom_to_fit();
  QString zoom_setting() const;
  template <class Do>
  void for_each_in_sight(Do act) const;
  /// The cards of heads in sight; of the others too if they are sorted.
  void choose_cards();
  const Picture& picture(const Head& head, int side);
  void draw_label(QPainter& painter, QRect box, const Head& head, bool on_picture);
  double measure(const Head& head) const;
  bool can_be_beside(const Head& head) const;
  void show_beside(const Head& head);
  /// What the heads are sorted by, else which one it is.
  QString label(const Head& head) const;
  /// Its number, behind that of its layer where several layers are shown.
  QString name(const Head& head) const;

  Study& study_;
  SessionEditor& editor_;
  HeadBars bars_;
  HeadGrid cells_;
  std::optional<Index> layer_;
  Followed followed_;
  HeadOrder order_ = HeadOrder::index;
  Head opened_{-1, -1};
  bool is_grid_ = false;
  int side_ = least_side;
  int zoomed_ = 0;                // the side that a person chose; 0 means what fits
  QPointer<QScrollArea> around_;  // of the dock that it lies in; null if it fills a window
  std::map<Head, Picture> pictures_;
  std::string colormap_;  // of the pictures
  QTimer sort_timer_;
};

}  // namespace fovea
