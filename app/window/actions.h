#pragma once

#include "window/setting_fields.h"

namespace fovea {

class MainWindow;

/// Makes the menus, the keys and the tool bar of a window. Every key can be changed under
/// Help > Keys. Returns the settings of all rows.
GeneralFields make_actions(MainWindow& window);

}  // namespace fovea
