// The Canvas draws a grid of panels: a column a variant, a row a view. It shows what it is given
// and reports what the user does; it never computes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "canvas/gl_widget.h"
#include "study/canvas_model.h"

namespace fovea {

class Canvas : public GlWidget {
  Q_OBJECT

 public:
  explicit Canvas(QWidget* parent = nullptr);
  ~Canvas() override;

  void set_model(std::shared_ptr<const CanvasModel> model);

  /// One panel fills the canvas; a double click does the same, and again undoes it.
  void enlarge(int view, int column);
  /// Back to the grid; false when it was there already.
  bool show_grid();
  bool is_enlarged() const;

  /// Panels become larger by this many steps, or with less than 0 smaller, about a point that stays
  /// nearly where it is. An enlarged panel stays as it is.
  void resize_panels(double steps, std::optional<QPointF> about = {});
  /// As large as the window lets them be comfortably, as at first.
  void standard_panels();
  /// All columns are seen at once, on a narrow window in smaller panels.
  void fit_columns();
  /// Keeps the range of colours of a panel, or of its row where that shares one; kept already, it
  /// follows the numbers again. Requested as settings.
  void toggle_lock(int view, int column);

  /// The crosshair stands at a pair that keys or another widget point at, until the pointer moves
  /// over the canvas; -1 if it is nowhere along that axis.
  void point_to(Index query, Index key);
  /// Tokens a search found: marked at the edges of all panels.
  void set_found(FoundTokens tokens);
  /// The leaves whose tokens the model marks; an empty range: none.
  void set_chosen_leaves(int column, IndexRange leaves);
  /// The panel that keys act on: the name of its row is highlighted, and it is scrolled into view.
  void set_current(int view, int column);

  /// The side of a panel in device pixels: finer rasters show no more.
  int panel_pixels() const;
  /// Between two columns that are wiped: a share of a panel's width.
  double border() const;
  /// Where a panel is, in the widget's coordinates; empty if it is not shown.
  QRectF panel_place(int view, int column) const;

 signals:
  /// The user panned or zoomed: the visible part to be shown, clamped to the matrix.
  void viewport_requested(fovea::Viewport viewport);
  /// The cursor is over pair (query, key) of a column, or left all panels (query = -1). Where a
  /// panel has only queries (an output strip or picture) key is -1.
  void hovered(fovea::Index query, fovea::Index key, int column, int view);
  void query_pinned(fovea::Index query);
  void rectangle_selected(fovea::IndexRange rows, fovea::IndexRange cols);
  void column_chosen(int column);
  void column_moved(int from, int to);
  /// Two columns shall be compared in the panels of one; nothing if none shall.
  void comparison_requested(const std::optional<fovea::Comparison>& comparison);
  void leaves_chosen(int column, fovea::IndexRange leaves);
  /// A click on a rank map, whose block holds this pair.
  void block_chosen(int column, fovea::Index query, fovea::Index key);
  /// A control changed these; they are shown already.
  void settings_requested(const fovea::ViewSettings& settings);
  /// The row shall show another view.
  void view_requested(int row, fovea::View view);
  /// One of the window's actions, on the panel last hovered, by the name of its QAction.
  void action_requested(const QString& name);
  /// Panels are drawn at another size now: in device pixels, as panel_pixels() returns it.
  void panel_pixels_changed(int side);

 protected:
  void initialise_gl() override;
  void draw_gl() override;
  bool event(QEvent* event) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fovea
