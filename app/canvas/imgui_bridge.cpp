#include "canvas/imgui_bridge.h"

#include <backends/imgui_impl_opengl3.h>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <QWidget>
#include <algorithm>
#include <cfloat>

namespace fovea::canvas {
namespace {

int imgui_button(Qt::MouseButton button) {
  if (button == Qt::LeftButton) return 0;
  if (button == Qt::RightButton) return 1;
  return button == Qt::MiddleButton ? 2 : -1;
}

Point point_of(const QPointF& p) {
  return {p.x(), p.y()};
}

}  // namespace

ImGuiBridge::ImGuiBridge(QWidget* widget) : widget_(widget), context_(ImGui::CreateContext()) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.BackendPlatformName = "fovea_qt";
  io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
  io.MousePos = {-FLT_MAX, -FLT_MAX};
  clock_.start();
}

ImGuiBridge::~ImGuiBridge() {
  ImGui::DestroyContext(context_);
}

void ImGuiBridge::initialise() {
  ImGui::SetCurrentContext(context_);
  load_fonts();
  ImGui_ImplOpenGL3_Init("#version 330 core");
  has_gl_ = true;
}

void ImGuiBridge::release() {
  ImGui::SetCurrentContext(context_);
  ImGui_ImplOpenGL3_Shutdown();
  has_gl_ = false;
}

void ImGuiBridge::load_fonts() {
  const double ratio = widget_->devicePixelRatioF();
  if (ratio == ratio_) return;
  ratio_ = ratio;
  fonts_.load(ratio);
  if (has_gl_) ImGui_ImplOpenGL3_DestroyFontsTexture(), ImGui_ImplOpenGL3_CreateFontsTexture();
}

void ImGuiBridge::add_pointer(QEvent* event) {
  if (event->type() == QEvent::Wheel) {
    const auto* wheel = static_cast<QWheelEvent*>(event);
    // Alt turns the wheel sideways in Qt; a canvas wants it as it is.
    const Point notches{wheel->angleDelta().x() / 120.0, wheel->angleDelta().y() / 120.0};
    waiting_.push_back(
        {Input::Kind::move, point_of(wheel->position()), 0, false, false, wheel->modifiers()});
    waiting_.push_back({Input::Kind::wheel, notches, 0, false, false, wheel->modifiers()});
    return;
  }
  const auto* mouse = static_cast<QMouseEvent*>(event);
  waiting_.push_back(
      {Input::Kind::move, point_of(mouse->position()), 0, false, false, mouse->modifiers()});
  const int button = imgui_button(mouse->button());
  if (event->type() == QEvent::MouseMove || button < 0) return;
  waiting_.push_back({.kind = Input::Kind::button,
                      .at = point_of(mouse->position()),
                      .code = button,
                      .down = event->type() != QEvent::MouseButtonRelease,
                      .again = event->type() == QEvent::MouseButtonDblClick,
                      .modifiers = mouse->modifiers()});
}

bool ImGuiBridge::take(QEvent* event) {
  switch (event->type()) {
    case QEvent::MouseMove:
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonRelease:
    case QEvent::MouseButtonDblClick:
    case QEvent::Wheel:
      add_pointer(event);
      return true;
    case QEvent::Leave:
      waiting_.push_back({Input::Kind::leave});
      return true;
    case QEvent::KeyPress:
    case QEvent::KeyRelease: {
      const auto* key = static_cast<QKeyEvent*>(event);
      const bool down = event->type() == QEvent::KeyPress;
      if (!down && key->isAutoRepeat()) return true;
      waiting_.push_back({Input::Kind::key, {}, key->key(), down, false, key->modifiers()});
      return true;
    }
    case QEvent::FocusOut:  // releases will go elsewhere
      for (const int key : keys_down_) waiting_.push_back({Input::Kind::key, {}, key, false});
      return true;
    default:
      return false;
  }
}

bool ImGuiBridge::key_is_down(int key) const {
  return std::ranges::find(keys_down_, key) != keys_down_.end();
}

void ImGuiBridge::apply(const Input& input) {
  ImGuiIO& io = ImGui::GetIO();
  modifiers_ = input.kind == Input::Kind::leave ? modifiers_ : input.modifiers;
  switch (input.kind) {
    case Input::Kind::move:
      io.MousePos = {static_cast<float>(input.at.x), static_cast<float>(input.at.y)};
      break;
    case Input::Kind::leave:
      io.MousePos = {-FLT_MAX, -FLT_MAX};
      break;
    case Input::Kind::button:
      io.MouseDown[input.code] = input.down;
      double_clicked_ = input.again && input.code == 0;
      break;
    case Input::Kind::wheel:
      wheel_.x += input.at.x, wheel_.y += input.at.y;
      break;
    case Input::Kind::key:
      std::erase(keys_down_, input.code);
      if (input.down) keys_down_.push_back(input.code), pressed_key_ = input.code;
      break;
  }
}

void ImGuiBridge::feed() {
  pressed_key_.reset();
  double_clicked_ = false;
  wheel_ = {};
  bool changed = false;  // after a button or key the pointer stays for this frame
  while (!waiting_.empty()) {
    const Input& input = waiting_.front();
    if (changed) break;
    changed = input.kind == Input::Kind::button || input.kind == Input::Kind::key;
    // A turned wheel belongs to the place where it was turned.
    const bool turned = wheel_.x != 0 || wheel_.y != 0;
    if (turned && input.kind != Input::Kind::wheel) {
      if (input.kind != Input::Kind::move ||
          static_cast<float>(input.at.x) != ImGui::GetIO().MousePos.x ||
          static_cast<float>(input.at.y) != ImGui::GetIO().MousePos.y)
        break;
    }
    apply(input);
    waiting_.pop_front();
  }
  ImGuiIO& io = ImGui::GetIO();
  io.KeyShift = modifiers_.testFlag(Qt::ShiftModifier);
  io.KeyCtrl = modifiers_.testFlag(Qt::ControlModifier);
  io.KeyAlt = modifiers_.testFlag(Qt::AltModifier);
}

void ImGuiBridge::begin_frame() {
  ImGui::SetCurrentContext(context_);
  load_fonts();
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(widget_->width()), static_cast<float>(widget_->height())};
  io.DisplayFramebufferScale = {static_cast<float>(ratio_), static_cast<float>(ratio_)};
  io.DeltaTime = std::max(1e-4f, static_cast<float>(clock_.nsecsElapsed()) * 1e-9f);
  clock_.restart();
  feed();
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
}

void ImGuiBridge::end_frame() {
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  show_cursor();
}

void ImGuiBridge::show_cursor() const {
  Qt::CursorShape shape = Qt::ArrowCursor;
  switch (ImGui::GetMouseCursor()) {
    case ImGuiMouseCursor_Hand:
      shape = Qt::PointingHandCursor;
      break;
    case ImGuiMouseCursor_ResizeAll:
      shape = Qt::ClosedHandCursor;
      break;
    case ImGuiMouseCursor_ResizeEW:
      shape = Qt::SizeHorCursor;
      break;
    case ImGuiMouseCursor_TextInput:
      shape = Qt::CrossCursor;
      break;  // over a matrix
    default:
      break;
  }
  if (widget_->cursor().shape() != shape) widget_->setCursor(shape);
}

}  // namespace fovea::canvas
