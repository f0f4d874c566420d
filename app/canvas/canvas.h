// The Canvas draws a grid of panels: a column for each variant, a row for each view. It shows what
// it is given and reports what the user does; it never computes.
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

  /// Lets one panel fill the canvas. A double click does the same, and a second one undoes it.
  void enlarge(int view, int column);
  /// Returns to the grid; false if the grid is shown already.
  bool show_grid();
  bool is_enlarged() const;

  /// Makes panels larger by this many steps, or smaller if negative, about a point that stays
  /// nearly where it is. An enlarged panel stays as it is.
  void resize_panels(double steps, std::optional<QPointF> about = {});
  /// Makes panels as large as at first: as large as the window comfortably allows.
  void standard_panels();
  /// Shows all columns at once, in a narrow window with smaller panels.
  void fit_columns();
  /// Keeps the range of colours of a panel, or of its row if the row shares a range. A range that
  /// is kept already follows the numbers again. Requested as settings.
  void toggle_lock(int view, int column);

  /// Puts the crosshair at a pair that keys or another widget point at, until the pointer moves
  /// over the canvas; -1 for nowhere along that axis.
  void point_to(Index query, Index key);
  /// Tokens a search found: marked at the edges of all panels.
  void set_found(FoundTokens tokens);
  /// The leaves whose tokens the model marks; an empty range for none.
  void set_chosen_leaves(int column, IndexRange leaves);
  /// The panel that keys act on: the name of its row is highlighted, and it is scrolled into view.
  void set_current(int view, int column);

  /// How many rows are seen without scrolling if there are this many columns.
  int rows_in_sight(int columns) const;
  /// The side of a panel in device pixels: finer rasters show no more.
  int panel_pixels() const;
  /// The border between two columns that are wiped, as a share of a panel's width.
  double border() const;
  /// The place of a panel in the widget's coordinates; empty if it is not shown.
  QRectF panel_place(int view, int column) const;

 signals:
  /// The user panned or zoomed: the visible part to be shown, clamped to the matrix.
  void viewport_requested(fovea::Viewport viewport);
  /// The cursor is over pair (query, key) of a column, or has left all panels (query = -1). If a
  /// panel has only queries (an output strip or picture), key is -1.
  void hovered(fovea::Index query, fovea::Index key, int column, int view);
  void query_pinned(fovea::Index query);
  void rectangle_selected(fovea::IndexRange rows, fovea::IndexRange cols);
  void column_chosen(int column);
  void column_moved(int from, int to);
  /// The user wants two columns compared in the panels of one; no value ends a comparison.
  void comparison_requested(const std::optional<fovea::Comparison>& comparison);
  void leaves_chosen(int column, fovea::IndexRange leaves);
  /// A click on a rank map, whose block holds this pair.
  void block_chosen(int column, fovea::Index query, fovea::Index key);
  /// A control changed these; they are shown already.
  void settings_requested(const fovea::ViewSettings& settings);
  /// The user wants another view in the row.
  void view_requested(int row, fovea::View view);
  /// The user wants the settings of a row, or the parameters of a column, at a point of the widget.
  void row_settings_requested(int row, QPointF at);
  void parameters_requested(int column, QPointF at);
  /// The user wants one of the window's actions, given by the name of its QAction, on the panel
  /// last hovered.
  void action_requested(const QString& name);
  /// Panels are drawn at another size now: in device pixels, as panel_pixels() returns it.
  void panel_pixels_changed(int side);
  /// Other rows and columns of the model are in sight now.
  void sight_changed(fovea::IndexRange rows, fovea::IndexRange columns);

 protected:
  void initialise_gl() override;
  void draw_gl() override;
  bool event(QEvent* event) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fovea
