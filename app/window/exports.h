// Exports write figures, numbers and captures in the background, until they are written or
// cancelled.
#pragma once

#include <QString>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "backend/profile.h"
#include "figure/figure.h"
#include "window/dialogs/pairs_dialog.h"

namespace fovea {

struct CanvasModel;
struct Computation;
struct Workspace;

class Exports {
 public:
  explicit Exports(Workspace& workspace);

  /// Writes the canvas as a figure. A figure without a session names no source and no path.
  void export_by_dialog();
  void export_to(const QString& path, const FigureStyle& style, bool carries_session = true);
  /// Writes one panel as a figure.
  void export_panel_by_dialog(std::size_t row, std::size_t column);
  void export_panel_to(const QString& path, std::size_t row, std::size_t column,
                       const FigureStyle& style, bool carries_session = true);
  /// Writes a document about the opened head: its columns side by side, their numbers and times.
  /// It computes everything once more.
  void report_by_dialog();
  void report_to(const QString& path);
  /// Writes the numbers behind one panel.
  void save_numbers_by_dialog(std::size_t row, std::size_t column);
  void save_numbers_to(const QString& path, std::size_t row, std::size_t column);
  /// Writes which pairs the selected column attends, in a form that --mask reads.
  void save_pairs_by_dialog();
  void save_pairs_to(const QString& path, const PairsChoice& choice);
  /// Copies a panel to the clipboard as a picture.
  void copy_panel(std::size_t row, std::size_t column);

  /// Work that throws Cancelled if a stop is requested, and then leaves the file as it was.
  using Work = std::function<void(const Run& run)>;
  /// Writes in the background; then the status bar or a message says how it ended. `written` is
  /// called unless it failed or was cancelled.
  void write(const QString& path, Work work, std::function<void()> written = {});

  bool can_cancel() const;
  /// Cancels the exports that are being written and those that wait.
  void cancel();
  /// What the first export does that is not cancelled: "Writing figure.pdf". Empty if there is
  /// none.
  QString text() const;
  double fraction() const;  // 0..1
  /// Whether an export is being written, or waits, or was cancelled and has not ended yet.
  bool writing() const { return !exports_.empty(); }

 private:
  /// Shared with the thread that writes, which may outlive the window.
  struct Export {
    QString path;
    std::stop_source stop = {};
    Progress progress = {};
    bool cancelled = false;  // set before its end is reported
  };

  const Export* first() const;  // that is not cancelled; null if none
  CanvasModel titled(CanvasModel model, bool names_sources) const;
  Figure canvas_figure(const CanvasModel& model, const FigureStyle& style,
                       bool carries_session) const;
  Figure panel_figure(const CanvasModel& model, std::size_t row, std::size_t column,
                      const FigureStyle& style, bool carries_session) const;
  Recipe recipe_for(const QString& path, const std::string& command,
                    const std::string& options = {}) const;
  /// The computation of the selected column; null if it is not known, and the status bar says so.
  std::shared_ptr<const Computation> chosen_computation() const;
  std::shared_ptr<const CanvasModel> model_with(std::size_t row, std::size_t column) const;
  void write(const QString& path, Figure figure);

  Workspace& workspace_;
  std::vector<std::shared_ptr<Export>> exports_;  // in the order in which they are written
};

}  // namespace fovea
