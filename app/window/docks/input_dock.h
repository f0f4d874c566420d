#pragma once

class QWidget;

namespace fovea {

class SessionEditor;
class Study;

/// Says what is open and how it was understood; chooses layer, head and query. It contains a
/// HeadGallery and a SequenceView.
QWidget* make_input_dock(Study& study, SessionEditor& editor);

}  // namespace fovea
