// The table of views, and panels made from its rows. A view is one file of this folder and one row
// of the table.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "views/view_kind.h"

namespace fovea {

/// The views of THE table, in the order of menus.
std::vector<View> all_views();
/// Throws UsageError naming the known ids.
View find_view(std::string_view id);
std::optional<View> view_from(std::string_view id);
/// Its id, as in files and commands; empty if there is no view.
std::string to_text(View view);
/// "heatmap, error, mask".
std::string names_of(const std::vector<View>& views);
/// "Attention P".
std::string label_of(View view);
/// The view of P itself, whose map needs no reference.
View weights_view();
/// Those that show a matrix P without Q and K.
std::vector<View> views_of_matrix();
/// Those that a first start shows.
std::vector<View> first_views();
/// The same and others, at most `rows` of them, for a head of n tokens.
std::vector<View> first_views(std::size_t rows, Index n);

/// For test programs: one more row, at the end. Call it before anything uses the table.
void add_view(ViewKind row);

/// A field with the view that it belongs to.
struct FieldOfView {
  View view;
  const ViewField* field = nullptr;
};
/// The settings of all views, in the order of the table.
std::vector<FieldOfView> view_fields();
/// Throws UsageError naming the known ids.
FieldOfView find_view_field(std::string_view id);

Value value_of(const ViewSettings& settings, const ViewField& field);
/// Throws UsageError if the value is not one of the field.
void set_value(ViewSettings& settings, const ViewField& field, Value value);
void set_value(ViewSettings& settings, std::string_view id, const std::string& text);
/// The settings of a first start for a head of n tokens.
ViewSettings settings_for_length(Index n);
/// Settings of views that were left as they are for n_before tokens become those for n.
void follow_length(ViewSettings& settings, const ViewSettings& shown, Index n_before, Index n);

/// The settings that the view's data depend on, the others at their defaults: equal settings, equal
/// panels.
ViewSettings settings_for(View view, ViewSettings settings);

/// The map that the view shows of a long head; null if it has none. One without `needs_exact` does
/// not use `exact`.
std::shared_ptr<MapPyramid> make_map(View view, const Computation& computation,
                                     const Computation& exact, const ViewSettings& settings,
                                     Index side = MapPyramid::overview_side);

Panel make_panel(View view, const PanelInputs& inputs, Run& run);

/// The panel of a given attention matrix (a source without Q and K); a Message if the view needs
/// them. The title is left to the caller.
Panel make_matrix_panel(View view, MatrixView attention, const ViewSettings& settings,
                        IndexRange rows, IndexRange cols, Index max_pixels, const Backend& backend,
                        Run& run);

/// The first two parameters in use, "block 16, banded", or what the reference is: the recurrence of
/// the head if it has one. A later choice that is not the default stands in place of a second
/// parameter that is: "smoothed, weights nvfp4".
std::string parameters_of(const Variant& variant, const Values& values, bool causal,
                          const Recurrence* recurrence = nullptr);

/// The error that stands for all others: of the output, or of P if the head has no values.
struct HeadlineError {
  std::string name;  // "relative output error"
  double value;      // NaN if it is not defined
};
/// Nothing if neither is known.
std::optional<HeadlineError> headline_error(const Metrics& metrics);

/// "block 16, banded · 0.275 relative output error": parameters_of() and headline_error().
/// `metrics` may be null. Figures head their columns with it.
std::string subtitle_of(const Variant& variant, const Values& values, bool causal,
                        const Metrics* metrics, const Recurrence* recurrence = nullptr);

/// Puts the output errors |z~ - z| of all tokens beside an error map that has none yet, and says so
/// in its caption.
void add_row_errors(Panel& panel, const std::vector<float>& token_error);

/// The columns and views of a first start.
Session standard_session(const std::string& source, Index n);

}  // namespace fovea
