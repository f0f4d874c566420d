#pragma once

#include "window/setting_fields.h"

class QMenu;

namespace fovea {

class MainWindow;

/// Adds the settings of all rows and of single views to a menu. Returns those of all rows.
GeneralFields add_settings(MainWindow& window, QMenu& menu);

/// Adds a tool bar to the window, which has its actions already: what is wanted most, and the
/// settings of all rows that are wanted most.
void make_view_bar(MainWindow& window, const GeneralFields& fields);

}  // namespace fovea
