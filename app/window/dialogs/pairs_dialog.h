// Asks in which form the pairs of a column are saved.
#pragma once

#include <QWidget>
#include <optional>

#include "data/lengths.h"
#include "io/selection_file.h"

namespace fovea {

struct PairsChoice {
  SelectionForm form = SelectionForm::blocks;
  Lengths block;  // of forms of blocks
};

/// Nothing if the user cancels. `block` is proposed.
std::optional<PairsChoice> ask_pairs_form(QWidget& parent, const QString& column, Lengths block);

}  // namespace fovea
