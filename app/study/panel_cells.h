// PanelCells are the cells of the canvas: a panel for each view of each column, and a status until
// it is there.
#pragma once

#include <chrono>
#include <vector>

#include "study/canvas_model.h"
#include "study/head_maps.h"
#include "study/probe.h"
#include "views/views.h"

namespace fovea {

class PanelCells {
 public:
  PanelCells(Requests& requests, const Subject& subject, const Results& results, HeadMaps& maps,
             Probe& probe)
      : requests_(requests), subject_(subject), results_(results), maps_(maps), probe_(probe) {}

  /// Requests what is missing; every cell gets its panel or a status.
  void update();
  std::vector<std::vector<CanvasCell>> cells() const;  // [view][column]
  /// Every panel is there and up to date, or failed.
  /// `all`: also those that take long, of ranks and reach.
  bool ready(bool all = true) const;
  /// A map that is shown becomes finer or exact.
  bool refining() const;

  /// Arranges the cells for the next Session; `from` as of continued_columns.
  void continue_cells(const Session& next, const std::vector<int>& from);
  /// Every map is drawn again; until then its cell stays as it is.
  void forget_maps();
  void clear() { cells_.clear(); }
  void forget_errors();

 private:
  /// The last picture of a map.
  struct DrawnMap {
    PanelKey key;               // for which it was drawn
    std::uint64_t version = 0;  // of the map
    std::chrono::steady_clock::time_point time = {};
    std::string error;  // why it could not be drawn; empty if it was
  };
  struct Cell : CanvasCell {
    PanelKey key;             // of the panel that it is to show
    DrawnMap drawn;           // where that is a map
    bool other_part = false;  // of the map is drawn than is looked at
    bool refining = false;    // the map becomes finer or exact
  };
  using PanelCache = ResultCache<PanelKey, const Panel>;

  void update_cell(int row, int column, Cell& cell);
  void show_waiting(const RequestId& id, CanvasCell& cell) const;
  bool lacks_matrix(Cell& cell) const;
  bool lacks_results(View view, int column, Cell& cell) const;
  PanelKey panel_key(View view, const ColumnState& state) const;

  void update_panel(const RequestId& id, const ColumnState& state, Cell& cell);
  bool read_rows(const RequestId& id, PanelSources& from, Cell& cell);
  void use_shortcut(const PanelKey& key, const ViewKind::Shortcut& shortcut);
  template <class Answer>
  bool is_there(const Answer* answer, const RequestId& id, Cell& cell) const;
  void show(const PanelCache::Answer* answer, const RequestId& id, Cell& cell) const;

  void update_map(const RequestId& id, const ColumnState& state, Cell& cell);
  void take_picture(const PanelKey& key, const MapDrawing::Picture& picture,
                    const std::string& error);
  void show_map_status(const RequestId& id, const ColumnState& state,
                       const HeadMaps::Cache::Answer& map, const RequestId& exact_id,
                       Cell& cell) const;

  Requests& requests_;
  const Subject& subject_;
  const Results& results_;
  HeadMaps& maps_;
  Probe& probe_;
  std::vector<std::vector<Cell>> cells_;  // [view][column]
  PanelCache panels_{requests_, 160};
};

}  // namespace fovea
