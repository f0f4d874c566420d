// The small questions that menus and dialogs ask.
#pragma once

#include <QStringList>
#include <optional>
#include <utility>

#include "data/matrix.h"

class QAction;
class QWidget;

namespace fovea {

class MainWindow;

/// A query and a key of the open head, as "13, 26". Another answer is refused in the info bar.
std::optional<std::pair<Index, Index>> ask_pair(MainWindow& window);

/// The inner value is absent where the source's own scale was asked for.
std::optional<std::optional<double>> ask_scale(MainWindow& window);

/// The same for the sliding window and the soft cap; 0 if none.
std::optional<std::optional<Index>> ask_window(MainWindow& window);
std::optional<std::optional<double>> ask_soft_cap(MainWindow& window);

/// Asks for the memory budget, keeps it for later starts, and computes again what was refused.
void ask_memory_budget(MainWindow& window);
/// Takes the budget that was kept. Not to be called where the command line has set one.
void use_kept_memory_budget();

/// Looks for CUDA devices in the background, then asks what to compute on and has the study use it.
/// `action` is disabled until it is answered: there must not be two such questions at a time.
void ask_back_end(MainWindow& window, QAction& action);

/// Asks for a file to write; empty if none. `filters`: "PDF (*.pdf)" and the like; the name gets
/// the ending of the chosen one before it is asked whether to replace a file.
QString ask_new_file(QWidget& parent, const QString& title, const QString& proposed,
                     const QStringList& filters);

void show_about(QWidget& parent);

}  // namespace fovea
