// The small questions that the menus ask.
#pragma once

#include <optional>
#include <utility>

#include "study/study.h"

class QWidget;

namespace fovea {

class InfoBar;

/// A query and a key below `n`, as 13, 26. An answer that cannot be read is shown in `messages`.
std::optional<std::pair<Index, Index>> ask_pair(QWidget& parent, Index n, InfoBar& messages);

/// The inner value is absent where the source's own scale was asked for.
std::optional<std::optional<double>> ask_scale(QWidget& parent, double now, InfoBar& messages);

/// Looks for CUDA devices in the background, then asks what to compute on and has the study use it.
void ask_back_end(QWidget& parent, Study& study, Background& background);

void show_about(QWidget& parent);

}  // namespace fovea
