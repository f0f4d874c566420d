#pragma once

class QTableWidget;

namespace fovea {

class Study;

/// A table of what was measured, with a bar for each column of the canvas: plan, upload and the
/// stages of apply.
QTableWidget* make_timing_dock(Study& study);

}  // namespace fovea
