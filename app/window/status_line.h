#pragma once

#include <QString>

class QMainWindow;

namespace fovea {

class Study;

/// Source, head and back end in words; empty: nothing is open.
QString provenance_of(const Study& study);

/// The status bar says what is computed and of which head, with a button to cancel; the title says
/// of which head, too.
void make_status_line(QMainWindow& window, Study& study);

}  // namespace fovea
