#include "window/comparing.h"

#include "window/widgets/text.h"
#include "window/workspace.h"

namespace fovea {
namespace {

/// The column with which a column is compared unless another was chosen: exact attention of its
/// head; for exact attention the column right of it, or left of it if it is the last. Nothing if
/// there is no other column.
std::optional<int> partner_of(const Study& study, int column) {
  const int count = int(study.columns().size());
  if (count < 2) return {};
  const ColumnState& its = study.columns()[column];
  if (const auto exact = study.exact_column(its); exact && !is_reference(its.column.variant))
    return exact;
  return column + 1 < count ? column + 1 : column - 1;
}

}  // namespace

Comparing::Comparing(Workspace& workspace) : workspace_(workspace), study_(workspace.study) {
  QMainWindow& window = workspace.window;
  QObject::connect(&workspace.canvas, &Canvas::comparison_requested, &window,
                   [this](const std::optional<Comparison>& wanted) { compare(wanted); });
  QObject::connect(&study_, &Study::model_changed, &window, [this] {
    const auto& now = study_.comparison();
    if (now && !is_useful(now->mode, study_.model() && study_.model()->causal))
      compare(Comparison{now->column, now->with, ComparisonMode::wipe});
  });
}

std::optional<ComparisonMode> Comparing::mode() const {
  const auto& now = study_.comparison();
  return now && now->column == study_.selected_column() ? std::optional(now->mode) : std::nullopt;
}

void Comparing::show_next() {
  const bool causal = study_.model() && study_.model()->causal;
  compare_selected(next(mode(), causal));
}

void Comparing::show(ComparisonMode wanted) {
  if (!is_useful(wanted, study_.model() && study_.model()->causal))
    return workspace_.show_status("A causal head has nothing above the diagonal");
  compare_selected(mode() == wanted ? std::nullopt : std::optional(wanted));
}

void Comparing::compare_selected(std::optional<ComparisonMode> wanted) {
  if (!wanted) return compare({});
  const int column = study_.selected_column();
  const auto partner = mode() ? study_.comparison()->with : partner_of(study_, column);
  if (!partner) return workspace_.show_status("There is no other column to compare with");
  compare(Comparison{column, *partner, *wanted});
}

void Comparing::compare(const std::optional<Comparison>& comparison) {
  study_.compare(comparison);
  if (!comparison) return workspace_.show_status("Every column is shown by itself");
  const ComparisonWords words = words_of(comparison->mode, study_.title_of(comparison->column),
                                         study_.title_of(comparison->with));
  const char* between = words.place.empty() ? " " : ", ";
  workspace_.show_status(to_qt(words.first + words.place + between + words.second) +
                         "; Esc ends it");
}

bool Comparing::end() {
  if (!study_.comparison()) return false;
  compare({});
  return true;
}

}  // namespace fovea
