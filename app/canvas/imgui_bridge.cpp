#include "canvas/imgui_bridge.h"

#include <backends/imgui_impl_opengl3.h>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <QWidget>
#include <algorithm>
#include <array>
#include <cfloat>

namespace fovea::canvas {
namespace {

/// In ImGui's order.
constexpr std::array buttons{Qt::LeftButton, Qt::RightButton, Qt::MiddleButton};

ImVec2 imgui_place(const QSinglePointEvent& event) {
  return {float(event.position().x()), float(event.position().y())};
}

/// Whether an event continues a turn of the wheel, which belongs to the place where it began.
bool continues_wheel(const QEvent& event) {
  if (event.type() != QEvent::Wheel && event.type() != QEvent::MouseMove) return false;
  const ImVec2 at = imgui_place(static_cast<const QSinglePointEvent&>(event));
  return at.x == ImGui::GetIO().MousePos.x && at.y == ImGui::GetIO().MousePos.y;
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

bool ImGuiBridge::take(const QEvent& event) {
  switch (event.type()) {
    case QEvent::MouseMove:
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonRelease:
    case QEvent::MouseButtonDblClick:
    case QEvent::Wheel:
    case QEvent::Leave:
    case QEvent::KeyPress:
    case QEvent::KeyRelease:
    case QEvent::FocusOut:
      waiting_.emplace_back(event.clone());
      return true;
    default:
      return false;
  }
}

/// Returns whether a button or key changed.
bool ImGuiBridge::apply(const QEvent& event) {
  ImGuiIO& io = ImGui::GetIO();
  if (const auto* pointer = dynamic_cast<const QSinglePointEvent*>(&event))
    io.MousePos = imgui_place(*pointer);
  if (const auto* input = dynamic_cast<const QInputEvent*>(&event)) modifiers_ = input->modifiers();
  if (const auto* wheel = dynamic_cast<const QWheelEvent*>(&event)) {
    // Qt turns the wheel sideways while Alt is held; the canvas undoes that.
    const bool sideways = modifiers_.testFlag(Qt::AltModifier) && wheel->angleDelta().y() == 0;
    const QPoint turned = sideways ? wheel->angleDelta().transposed() : wheel->angleDelta();
    wheel_.x += turned.x() / 120.0;
    wheel_.y += turned.y() / 120.0;
    return false;
  }
  if (const auto* key = dynamic_cast<const QKeyEvent*>(&event)) {
    const bool down = event.type() == QEvent::KeyPress;
    if (!down && key->isAutoRepeat()) return false;
    if (key->key() == Qt::Key_Space) space_ = down;
    escape_ = down && key->key() == Qt::Key_Escape;
    return true;
  }
  if (event.type() == QEvent::FocusOut) space_ = false;  // its release will go elsewhere
  if (event.type() == QEvent::Leave) io.MousePos = {-FLT_MAX, -FLT_MAX};
  const auto* mouse = dynamic_cast<const QMouseEvent*>(&event);
  if (!mouse || event.type() == QEvent::MouseMove) return false;
  const auto button = std::ranges::find(buttons, mouse->button());
  if (button == buttons.end()) return false;
  io.MouseDown[button - buttons.begin()] = event.type() != QEvent::MouseButtonRelease;
  double_clicked_ = event.type() == QEvent::MouseButtonDblClick && *button == Qt::LeftButton;
  return true;
}

/// Releases buttons whose release went elsewhere, such as to a dialog that was opened meanwhile.
/// Returns whether there were any.
bool ImGuiBridge::release_lost(const QEvent& event) {
  if (event.type() != QEvent::MouseMove) return false;
  const Qt::MouseButtons held = static_cast<const QMouseEvent&>(event).buttons();
  bool any = false;
  for (std::size_t b = 0; b < buttons.size(); ++b) {
    bool& down = ImGui::GetIO().MouseDown[b];
    any |= down && !held.testFlag(buttons[b]);
    down &= held.testFlag(buttons[b]);
  }
  return any;
}

void ImGuiBridge::feed() {
  escape_ = double_clicked_ = false;
  wheel_ = {};
  bool changed = false;  // after a button or key the pointer stays for this frame
  while (!waiting_.empty() && !changed) {
    const QEvent& next = *waiting_.front();
    const bool turned = wheel_.x != 0 || wheel_.y != 0;
    if (turned && !continues_wheel(next)) break;
    if (release_lost(next)) break;  // where the pointer was, before it moves on
    changed = apply(next);
    waiting_.pop_front();
  }
}

void ImGuiBridge::begin_frame() {
  ImGui::SetCurrentContext(context_);
  load_fonts();
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {float(widget_->width()), float(widget_->height())};
  io.DisplayFramebufferScale = {float(ratio_), float(ratio_)};
  io.DeltaTime = std::max(1e-4f, float(clock_.nsecsElapsed()) * 1e-9f);
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
  constexpr std::pair<ImGuiMouseCursor, Qt::CursorShape> shapes[] = {
      {ImGuiMouseCursor_Hand, Qt::PointingHandCursor},
      {ImGuiMouseCursor_ResizeAll, Qt::ClosedHandCursor},
      {ImGuiMouseCursor_ResizeNS, Qt::SizeVerCursor},
      {ImGuiMouseCursor_ResizeEW, Qt::SizeHorCursor},
      {ImGuiMouseCursor_TextInput, Qt::CrossCursor}};  // over a matrix
  Qt::CursorShape shown = Qt::ArrowCursor;
  for (const auto& [cursor, shape] : shapes)
    if (ImGui::GetMouseCursor() == cursor) shown = shape;
  if (widget_->cursor().shape() != shown) widget_->setCursor(shown);
}

}  // namespace fovea::canvas
