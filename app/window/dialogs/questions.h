// The small questions that menus and dialogs ask.
#pragma once

#include <QStringList>
#include <optional>
#include <utility>

#include "data/conditions.h"

class QAction;
class QWidget;

namespace fovea {

struct Workspace;

/// A query and a key of the open head, as "13, 26". Another answer is refused in the info bar.
std::optional<std::pair<Index, Index>> ask_pair(Workspace& workspace);

/// Asks for a condition of the open head. The inner value is absent if the source's own was chosen.
std::optional<std::optional<double>> ask(Workspace& workspace, const Condition<double>& condition);
std::optional<std::optional<Index>> ask(Workspace& workspace, const Condition<Index>& condition);

/// Asks for the memory budget, keeps it for later starts, and computes again what was refused.
void ask_memory_budget(Workspace& workspace);
/// Takes the kept budget. Not to be called if the command line has set one.
void use_kept_memory_budget();

/// Looks for CUDA devices in the background, then asks what to compute on and has the study use it.
/// `action` is disabled until the question is answered, so that there are never two such questions.
void ask_back_end(Workspace& workspace, QAction& action);

/// Asks for a file to write; empty if none. `filters` are like "PDF (*.pdf)"; the name gets the
/// ending of the chosen filter before the dialog asks whether to replace a file.
QString ask_new_file(QWidget& parent, const QString& title, const QString& proposed,
                     const QStringList& filters);

void show_about(QWidget& parent);

}  // namespace fovea
