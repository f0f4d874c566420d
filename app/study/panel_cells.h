// PanelCells are the cells of the canvas: a panel for each view of each column, and a status until
// it is there.
#pragma once

#include <vector>

#include "study/canvas_model.h"
#include "study/head_maps.h"
#include "study/probe.h"

namespace fovea {

class PanelCells {
 public:
  PanelCells(Requests& requests, const Subject& subject, const Results& results, HeadMaps& maps,
             Probe& probe)
      : requests_(requests), subject_(subject), results_(results), maps_(maps), probe_(probe) {}

  /// Requests what is missing; every cell gets its panel or a status.
  void update();
  const std::vector<std::vector<CanvasCell>>& cells() const { return cells_; }  // [view][column]
  /// Every panel is there and fresh, or failed.
  bool complete() const;

  /// Arranges the cells for the next Session; `from` as of continued_columns.
  void continue_cells(const Session& next, const std::vector<int>& from);
  /// Forgets the panels; the cells stay as they are.
  void clear() { panels_.clear(); }
  void clear_cells() { cells_.clear(); }
  void forget_errors() { panels_.forget_errors(); }

 private:
  using PanelCache = ResultCache<PanelKey, Panel>;

  void update_cell(std::size_t column, std::size_t row, CanvasCell& cell);
  void update_matrix_cell(std::size_t row, CanvasCell& cell);
  PanelKey panel_key(View view, const ColumnState& state) const;
  const PanelCache::Answer* ask_panel(const RequestId& id, const PanelKey& key,
                                      const ColumnState& state,
                                      std::shared_ptr<const RowReading> exact_row,
                                      std::shared_ptr<const RowReading> row);
  /// Both rows of the row view, or nothing and the cell says why.
  bool read_rows(int column, const RequestId& id, CanvasCell& cell,
                 std::shared_ptr<const RowReading>& exact, std::shared_ptr<const RowReading>& row);
  void use_ranks_of_other_tolerance(const PanelKey& key);
  void show(const PanelCache::Answer* answer, const RequestId& id, CanvasCell& cell) const;

  Requests& requests_;
  const Subject& subject_;
  const Results& results_;
  HeadMaps& maps_;
  Probe& probe_;
  std::vector<std::vector<CanvasCell>> cells_;
  PanelCache panels_{160};
};

}  // namespace fovea
