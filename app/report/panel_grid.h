// A PanelGrid is the content of a figure: a column for each computed variant, a row for each view.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "data/source.h"
#include "evaluate/evaluate.h"
#include "session/column_tree.h"
#include "session/session.h"
#include "views/views.h"

namespace fovea {

/// A head that columns hold.
struct HeldProblem {
  HeldHead held;
  Source source;
  Problem problem;
};

struct PanelGridRequest {
  const Problem& problem;
  const Source& source;
  Index layer;  // of the source
  const Backend& backend;
  const ViewSettings& settings;
  const std::vector<Column>& columns;
  /// The head that each column holds, with its source; `problem` if it is null or beyond the end.
  std::vector<std::shared_ptr<const HeldProblem>> held = {};
  std::vector<ColumnTree> trees = {};  // learned trees that columns are given
  Viewport viewport;                   // empty means everything
  std::optional<Index> query;          // of a view of one query; default: the middle
  Index max_pixels = 512;              // a side of a panel
  bool estimate = false;  // for a long head: maps from a few rows, without running exact attention
};

class PanelGrid {
 public:
  /// Computes the columns and exact attention. Everything that `request` refers to must outlive
  /// this.
  PanelGrid(const PanelGridRequest& request, Run& run);

  std::vector<Panel> row(View view, Run& run) const;
  Panel panel(View view, std::size_t column, Run& run) const;
  /// Measures some rounds of each column.
  std::vector<Panel> timings(Run& run) const;
  /// The time of each column. All columns of a head run in the same rounds. A column that is read,
  /// not computed, has none.
  std::vector<std::optional<MeasuredTime>> times(Run& run) const;

  std::string title_of(std::size_t column) const;
  /// The learned trees that columns show: those of the request, and others that were learned.
  std::vector<ColumnTree> trees() const;
  /// Which rows of exact attention and of the columns are not finite, and why.
  std::vector<std::string> notes() const;
  /// Without metrics and diagnostics in estimates.
  const Evaluated& evaluated(std::size_t column) const { return columns_[column].found; }

 private:
  struct Drawn {
    Evaluated found;
    std::size_t head = 0;  // whose it is, an index into heads_
  };
  /// A head that columns show.
  struct Head {
    const HeldProblem* held = nullptr;  // null for that of the request
    Reference reference;
    std::shared_ptr<MapPyramid> exact_map;  // of its weights, found with its output
  };

  std::size_t head_of(std::size_t column);
  ComputeRequest request_for(std::size_t column) const;
  bool is_long() const { return fovea::is_long(request_.problem.lengths()); }
  void look_at(const Viewport& view);
  void prepare_all(Run& run);
  void find_exact(Head& head, Run& run) const;
  Panel panel(View view, const Drawn& column, Run& run) const;
  std::shared_ptr<MapPyramid> map(View view, const Drawn& column, Run& run) const;

  PanelGridRequest request_;
  IndexRange rows_, cols_;
  Index query_ = 0;
  std::vector<Head> heads_;
  std::vector<Drawn> columns_;
};

}  // namespace fovea
