#pragma once

#include <QString>

namespace fovea {

class MainWindow;
class Study;

/// Source, head and back end in words; empty if nothing is open.
QString provenance_of(const Study& study, bool names_source = true);
/// The same without the device, for captions.
QString subject_of(const Study& study, bool names_source);

/// Shows in the status bar what is being written, opened or computed and for which head, with a
/// button to cancel, and the head in the title.
void make_status_line(MainWindow& window);

}  // namespace fovea
