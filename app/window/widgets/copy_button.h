// A copy button puts a table into the clipboard, as text, Markdown or LaTeX.
#pragma once

#include <functional>
#include <string>

#include "data/marked_table.h"

class QToolButton;

namespace fovea {

/// `text_of` is called when the table is copied.
QToolButton* make_copy_button(std::function<std::string(TableFormat)> text_of);

}  // namespace fovea
