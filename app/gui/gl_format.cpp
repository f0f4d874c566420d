#include "gui/gl_format.h"

#include <QSurfaceFormat>

namespace fovea {

void ask_for_gl() {
  QSurfaceFormat format;
  format.setVersion(3, 3);
  format.setProfile(QSurfaceFormat::CoreProfile);
  QSurfaceFormat::setDefaultFormat(format);
}

}  // namespace fovea
