// The context menu of a panel and of a column's header.
#include <QClipboard>
#include <QGuiApplication>

#include "canvas/canvas.h"
#include "canvas/controls.h"

namespace fovea::canvas {

bool Controls::menu_item(const char* words, bool enabled, bool on) {
  return ImGui::MenuItem(words, nullptr, on, enabled);
}

/// One of the window's actions.
void Controls::action_item(const char* words, const char* name) {
  if (menu_item(words)) requests_.push_back([name](Canvas& c) { emit c.action_requested(name); });
}

/// The menu of a panel, or of a column's header if the row is -1.
void Controls::context_menu(Scene& scene) {
  const int row = menu_at_.row, column = menu_at_.column;
  const bool there = row < 0 ? column >= 0 && column < std::ssize(scene.columns)
                             : scene.cell(row, column) != nullptr;
  if (!there || !begin_menu("menu")) return;
  if (row >= 0) {
    panel_menu(scene);
    ImGui::Separator();
  }
  column_menu(scene);
  ImGui::EndPopup();
}

void Controls::panel_menu(Scene& scene) {
  const int row = menu_at_.row, column = menu_at_.column;
  const std::string words = words_at_pointer(scene);
  if (menu_item("Copy values", !words.empty()))
    QGuiApplication::clipboard()->setText(QString::fromStdString(words));
  action_item("Copy panel", "copy");
  action_item("Export panel…", "export_panel");
  action_item("Save numbers…", "save_numbers");
  ImGui::Separator();
  action_item(scene.enlarged ? "Back to the grid" : "Enlarge", "enlarge");
  const bool is_pinned = menu_at_.query >= 0 && scene.model.pinned_query == menu_at_.query;
  if (menu_item(is_pinned ? "Unpin query" : "Pin query", menu_at_.query >= 0))
    requests_.push_back([query = menu_at_.query](Canvas& c) { emit c.query_pinned(query); });
  action_item("Go to query, key…", "goto");
  if (scene.model.selection) {
    action_item("Include the selected pairs", "include_pairs");
    action_item("Exclude the selected pairs", "exclude_pairs");
  }
  ImGui::Separator();
  if (ImGui::BeginMenu("View of this row")) {
    choose_view(scene, row);
    ImGui::EndMenu();
  }
  if (ImGui::BeginMenu("Colours", has_colour_menu(scene.view(row)))) {
    choose_norm(scene, row);
    ImGui::EndMenu();
  }
  const auto& scale = scene.scales[row].of[column];
  if (menu_item("Lock range of colours", scale && scale->is_amounts(),
                is_locked(scene, row, column))) {
    toggle_lock(scene, row, column);
    request_settings(scene);
  }
}

/// Adds what can be done with a column. It is also the menu of the column's header.
void Controls::column_menu(const Scene& scene) {
  const int column = scene.columns[menu_at_.column];
  const auto& titles = scene.model.column_titles;
  const auto& comparison = scene.model.comparison;
  const bool compared = comparison && comparison->column == column;
  const auto request = [&](const std::optional<Comparison>& wanted) {
    requests_.push_back([wanted](Canvas& c) { emit c.comparison_requested(wanted); });
  };
  if (ImGui::BeginMenu("Compare with", titles.size() > 1)) {
    for (int other = 0; other < std::ssize(titles); ++other) {
      if (other == column || !ImGui::BeginMenu(titles[other].c_str())) continue;
      for (const ComparisonMode mode : all_comparison_modes) {
        const Comparison wanted{column, other, mode};
        if (menu_item(label_of(mode).c_str(), is_useful(mode, scene.model.causal),
                      comparison == wanted))
          request(comparison == wanted ? std::nullopt : std::optional(wanted));
      }
      ImGui::EndMenu();
    }
    ImGui::EndMenu();
  }
  if (compared && menu_item("End comparison")) request({});
  const auto act_on_column = [&](const char* action) {
    requests_.push_back([column, action](Canvas& c) {
      emit c.column_chosen(column);
      emit c.action_requested(action);
    });
  };
  if (menu_item("Duplicate column")) act_on_column("duplicate");
  if (menu_item("Keep this head", true, scene.model.holds_head(column))) act_on_column("hold");
  ImGui::Separator();
  if (menu_item("Move left", column > 0)) act_on_column("left");
  if (menu_item("Move right", column + 1 < std::ssize(titles))) act_on_column("right");
  if (menu_item("Reset parameters")) act_on_column("reset");
  if (menu_item("Remove column", titles.size() > 1)) act_on_column("remove");
}

}  // namespace fovea::canvas
