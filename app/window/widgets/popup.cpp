#include "window/widgets/popup.h"

#include <QScreen>
#include <algorithm>

namespace fovea {

void show_on_screen(QWidget& popup, QPoint place) {
  popup.adjustSize();
  const QRect screen = popup.parentWidget()->screen()->availableGeometry();
  const auto within = [](int at, int low, int high) { return std::max(low, std::min(at, high)); };
  popup.move(within(place.x(), screen.left(), screen.right() - popup.width()),
             within(place.y(), screen.top(), screen.bottom() - popup.height()));
  popup.show();
}

}  // namespace fovea
