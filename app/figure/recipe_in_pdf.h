// A Recipe in a PDF file: its attached files, as QPdfWriter writes them.
#pragma once

#include <QByteArray>
#include <optional>

#include "figure/recipe.h"

class QPdfWriter;

namespace fovea {

/// To be called before anything is drawn.
void attach(QPdfWriter& writer, const Recipe& recipe);

/// The recipe in the last bytes of a file; it is empty if the file has no such attachments. Files
/// that other programs have rewritten are not read.
std::optional<Recipe> recipe_in_pdf(const QByteArray& pdf);

}  // namespace fovea
