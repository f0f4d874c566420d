// A PaperFigure is a figure or a number of one of the papers, computed again and put beside what
// the paper states.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/source.h"
#include "panels/panel.h"

namespace fovea {

struct PaperNumber {
  std::string id;                   // "compression", as in JSON
  std::string what;                 // "Entries stored"
  std::optional<double> published;  // nothing if the paper states no number
  double found = 0;
  std::string apart = {};  // why the two cannot be equal; empty if they are of the same thing
  std::optional<double> expected = {};        // what theory demands, which no paper states
  std::optional<double> standard_error = {};  // of what was found
};

struct PaperResult {
  std::vector<PaperNumber> numbers;
  std::vector<std::string> notes;        // what was computed, and how it differs from the paper's
  std::vector<std::vector<Panel>> rows;  // of the figure
  std::shared_ptr<const Backend> backend = {};  // that computed it, if it is not that of the task
};

struct PaperTask {
  const Backend& backend;
  const Source& example;   // real heads, with Q, K and V
  Index longest = 0;       // of heads that are timed
  std::string model = {};  // the address of a model and what it reads
};

struct PaperFigure {
  std::string id;     // "rank-map"
  std::string paper;  // "H-Transformer-1D (Zhu & Soricut 2021), Eq. 11-13"
  std::string title;
  std::string sentence;      // what it shows
  bool reads_model = false;  // takes PaperTask::model
  bool timed = false;        // takes PaperTask::longest
  /// Throws Cancelled.
  std::function<PaperResult(const PaperTask& task, Run& run)> make;
};

/// All figures, in the order of lists.
std::span<const PaperFigure> paper_figures();

/// Throws UsageError with the names that exist.
const PaperFigure& find_paper_figure(const std::string& id);

// One function for each file of this folder.
PaperFigure rank_map_figure();
PaperFigure hierarchy_cost_figure();
PaperFigure sparse_pattern_figure();
PaperFigure summary_column_figure();
PaperFigure arena_cost_figure();
PaperFigure tree_time_figure();
PaperFigure leaf_distribution_figure();
PaperFigure gradient_norm_figure();
PaperFigure exact_tree_figure();
PaperFigure sampled_sum_figure();
PaperFigure column_spread_figure();
PaperFigure column_growth_figure();
PaperFigure spectral_error_figure();
PaperFigure heavy_entry_figure();
PaperFigure hash_collision_figure();
PaperFigure running_time_figure();
PaperFigure replaced_layer_figure();

}  // namespace fovea
