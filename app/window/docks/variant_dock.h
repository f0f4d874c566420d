#pragma once

class QWidget;

namespace fovea {

class SessionEditor;
class Study;

/// A form made from the selected column's schema, with its paper, its notes and how far it is from
/// exact attention.
QWidget* make_variant_dock(Study& study, SessionEditor& editor);

}  // namespace fovea
