#include "canvas/panel_menu.h"

#include <imgui.h>

namespace fovea::canvas {
namespace {

ImVec4 imgui_colour(drawing::Rgba c) {
  return {c.r / 255.0f, c.g / 255.0f, c.b / 255.0f, c.a / 255.0f};
}

}  // namespace

void PanelMenu::open(bool can_pin, bool is_enlarged) {
  opening_ = open_ = true;
  can_pin_ = can_pin;
  enlarged_ = is_enlarged;
}

std::optional<MenuChoice> PanelMenu::step(const Theme& theme, bool cancel) {
  if (!open_) return {};
  constexpr const char* name = "panel";
  if (opening_) ImGui::OpenPopup(name);
  opening_ = false;
  const std::pair<ImGuiCol, drawing::Rgba> colours[] = {
      {ImGuiCol_PopupBg, theme.tip},
      {ImGuiCol_Text, theme.style.text},
      {ImGuiCol_TextDisabled, theme.style.faint},
      {ImGuiCol_Border, theme.style.frame},
      {ImGuiCol_HeaderHovered, drawing::faded(theme.accent, 0.3)}};
  for (const auto& [what, colour] : colours) ImGui::PushStyleColor(what, imgui_colour(colour));
  std::optional<MenuChoice> choice;
  open_ = ImGui::BeginPopup(name);
  if (open_) {
    const auto item = [&](const char* words, MenuChoice what, bool enabled = true) {
      if (ImGui::MenuItem(words, nullptr, false, enabled)) choice = what;
    };
    item("Copy panel", MenuChoice::copy);
    item("Export figure...", MenuChoice::export_figure);
    item(enlarged_ ? "Back to the grid" : "Enlarge", MenuChoice::enlarge);
    ImGui::Separator();
    item("Pin query", MenuChoice::pin, can_pin_);
    item("Go to...", MenuChoice::go_to);
    if (cancel) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
  }
  ImGui::PopStyleColor(static_cast<int>(std::size(colours)));
  return choice;
}

}  // namespace fovea::canvas
