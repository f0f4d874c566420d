#pragma once

#include <QString>

class QMainWindow;

namespace fovea {

class Study;

/// Source, head and back end in words; empty: nothing is open.
QString provenance_of(const Study& study);

/// Shows in the status bar what is computed and of which head, with a button to cancel, and the
/// head in the title.
void make_status_line(QMainWindow& window, Study& study);

}  // namespace fovea
