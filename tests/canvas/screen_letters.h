// ImGui's letters without a window.
#pragma once

#include <imgui.h>

#include "canvas/fonts.h"

namespace fovea {

struct ScreenLetters {
  ScreenLetters() : context(ImGui::CreateContext()) {
    ImGui::SetCurrentContext(context);
    fonts.load(1);
  }
  ~ScreenLetters() { ImGui::DestroyContext(context); }
  ImGuiContext* context;
  canvas::Fonts fonts;
};

}  // namespace fovea
