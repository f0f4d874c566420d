// What the menus and keys of the MainWindow do.
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QInputDialog>
#include <QMessageBox>
#include <QPainter>
#include <QRegularExpression>
#include <QSettings>
#include <algorithm>
#include <cmath>

#include "canvas/row_scale.h"
#include "canvas/viewport.h"
#include "input/open_source.h"
#include "study/polite_backend.h"
#include "window/dialogs/export_dialog.h"
#include "window/dialogs/keys_dialog.h"
#include "window/dialogs/sweep_dialog.h"
#include "window/main_window.h"
#include "window/widgets/info_bar.h"
#include "window/widgets/theme.h"

namespace fovea {

void MainWindow::open_by_dialog() {
  QStringList patterns;
  for (const auto& pattern : file_patterns()) patterns << QString::fromStdString(pattern);
  patterns << "Sessions (*.fovea.json *.json)"
           << "All files (*)";
  const QString path = QFileDialog::getOpenFileName(this, "Open", {}, patterns.join(";;"));
  if (!path.isEmpty()) open(path);
}

void MainWindow::save_session() {
  QString path = session_path_;
  if (path.isEmpty())
    path = QFileDialog::getSaveFileName(this, "Save the session", "session.fovea.json",
                                        "Sessions (*.json)");
  if (path.isEmpty()) return;
  save_session_to(path.endsWith(".json") ? path : path + ".fovea.json");
}

void MainWindow::export_by_dialog() {
  ExportDialog dialog(this);
  if (dialog.exec() != QDialog::Accepted) return;
  QString filter;
  QString path = QFileDialog::getSaveFileName(this, "Export", "attention.pdf",
                                              "PDF (*.pdf);;SVG (*.svg);;PNG (*.png)", &filter);
  if (path.isEmpty()) return;
  if (!path.contains('.')) path += "." + filter.left(3).toLower();
  export_to(path, dialog.style());
}

void MainWindow::copy_panel() {
  const auto model = study_->model();
  const auto row = std::size_t(std::max(0, current_view_)),
             column = std::size_t(std::max(0, current_column_));
  if (!model || row >= model->cells.size() || column >= model->cells[row].size() ||
      !model->cells[row][column].panel)
    return say("There is no panel to copy yet.");
  constexpr double points = 252, scale = 4;
  QImage image(int(points * scale), int(points * scale), QImage::Format_RGB32);
  FigureStyle style;
  style.dark = Theme::current().window == Theme::dark().window;
  style.colormap = model->settings.colormap;
  style.log_floor = model->settings.log_floor;
  style.rank_colour = model->settings.rank_colour;
  image.fill(style.dark ? Theme::dark().window : QColor(Qt::white));
  QPainter painter(&image);
  painter.scale(scale, scale);
  const auto chosen = canvas_->chosen_range(int(row), int(column));
  draw_panel(painter, QRectF(0, 0, points, points), *model->cells[row][column].panel, style,
             chosen ? chosen : canvas::shared_range(*model, row));
  painter.end();
  QApplication::clipboard()->setImage(image);
  say("Copied the " + QString::fromStdString(to_text(model->views[row])) + " of " +
      QString::fromStdString(model->column_titles[column]));
}

void MainWindow::go_to_pair() {
  const Index n = study_->length();
  if (n == 0) return;
  bool ok = false;
  const QString text = QInputDialog::getText(
      this, "Go to", QString("Query, key (0 to %1)").arg(n - 1), QLineEdit::Normal, {}, &ok);
  if (!ok) return;
  const QStringList parts = text.split(QRegularExpression("[,\\s]+"), Qt::SkipEmptyParts);
  bool good_query = false, good_key = true;
  const Index query = parts.isEmpty() ? -1 : parts[0].toLongLong(&good_query);
  const Index key = parts.size() > 1 ? parts[1].toLongLong(&good_key) : query;
  if (!good_query || !good_key || query < 0 || key < 0 || query >= n || key >= n)
    return tell(
        QString("“%1”: a query and a key from 0 to %2 expected, as 13, 26").arg(text).arg(n - 1));
  change("go", [&](Session& s) {
    const double rows = s.viewport.row_end - s.viewport.row_begin,
                 cols = s.viewport.col_end - s.viewport.col_begin;
    const double r = std::clamp(double(query) - rows / 2, 0.0, std::max(0.0, double(n) - rows)),
                 c = std::clamp(double(key) - cols / 2, 0.0, std::max(0.0, double(n) - cols));
    s.viewport = {r, r + rows, c, c + cols};
    s.pinned_query = query;
  });
  point_to(query, key);
}

void MainWindow::ask_scale() {
  if (!study_->problem()) return;
  bool ok = false;
  const QString text =
      QInputDialog::getText(this, "Scale", "Logits are scale · q·k. Empty: the source's, else 1/√d",
                            QLineEdit::Normal, QString::number(study_->problem()->scale), &ok);
  if (!ok) return;
  const double scale = text.toDouble(&ok);
  if (!text.trimmed().isEmpty() && (!ok || !(scale > 0) || !std::isfinite(scale)))
    return tell(QString("scale “%1”: a number above 0 expected").arg(text));
  change("scale", [&](Session& s) {
    s.scale.reset();
    if (ok) s.scale = scale;
  });
}

void MainWindow::show_keys() {
  const QList<QAction*> actions = findChildren<QAction*>();
  KeysDialog({actions.begin(), actions.end()}, this).exec();
}

void MainWindow::show_back_end() {
  const Backend& backend = study_->backend();
  std::string why_not;
  const bool cuda = backend.id() == "cuda" || make_cuda_backend({}, &why_not) != nullptr;
  const QString text = QString("Computing on %1: %2, %3.\nCUDA: %4\n\nCompute on:")
                           .arg(QString::fromStdString(backend.id()).toUpper(),
                                QString::fromStdString(backend.device()),
                                QString::fromStdString(backend.precision()),
                                cuda ? QString("available") : QString::fromStdString(why_not));
  QStringList choices{"cpu fp32"};
  if (cuda)
    choices << "cuda fp32"
            << "cuda bf16"
            << "cuda fp16";
  const QString now = QString::fromStdString(backend.id() + " " + backend.precision());
  bool accepted = false;
  const QString chosen = QInputDialog::getItem(this, "Back end", text, choices,
                                               int(choices.indexOf(now)), false, &accepted);
  if (!accepted || chosen == now) return;
  try {
    const QStringList words = chosen.split(' ');
    study_->use_backend(make_polite_backend(
        {.backend = words[0].toStdString(), .precision = words[1].toStdString()}));
  } catch (const Error& error) {
    QMessageBox::warning(this, "Back end", error.what());
  }
}

void MainWindow::show_sweep() {
  if (!sweep_)
    sweep_ = new SweepDialog(
        *study_, [this] { return provenance(); }, this);
  sweep_->open_up();
}

void MainWindow::show_about() {
  QMessageBox::about(this, "About Fovea",
                     "<h3>Fovea</h3><p>A microscope for attention: where a head looks, what each "
                     "efficient attention keeps "
                     "or loses of it, and what it costs.</p><p>Every number shown was computed "
                     "from the opened source; times "
                     "are measured on this machine.</p>");
}

// A row that is added goes where it stands in the menu, unless rows were moved.
void MainWindow::show_picture(View view, bool on) {
  change("views", [&](Session& s) {
    std::erase(s.views, view);
    if (on) s.views.insert(std::ranges::find_if(s.views, [&](View v) { return v > view; }), view);
    if (s.views.empty()) s.views.push_back(View::heatmap);
  });
}

void MainWindow::move_row(int by) {
  const int from = current_view_, to = from + by;
  const int count = int(study_->session().views.size());
  if (from < 0 || from >= count || to < 0 || to >= count) return;
  change("move row",
         [&](Session& s) { std::swap(s.views[std::size_t(from)], s.views[std::size_t(to)]); });
  step_row(by);
}

void MainWindow::add_column(const std::string& variant) {
  if (study_->shows_matrix())
    return tell("This source holds only an attention matrix: variants need Q, K and V.");
  const Index n = study_->problem() ? study_->problem()->n() : 0;
  change("add", [&](Session& s) {
    s.columns.push_back(
        {.variant = variant, .values = values_for_length(find_variant(variant), n), .seed = 0});
  });
  study_->select_column(int(study_->session().columns.size()) - 1);
}

void MainWindow::remove_column() {
  const auto column = std::size_t(study_->selected_column());
  change("remove", [&](Session& s) {
    if (s.columns.size() > 1) s.columns.erase(s.columns.begin() + std::ptrdiff_t(column));
  });
  follow_column();
}

void MainWindow::move_column(int from, int to) {
  const int count = int(study_->session().columns.size());
  if (from == to || from < 0 || to < 0 || from >= count || to >= count) return;
  change("move", [&](Session& s) {
    const Column column = s.columns[std::size_t(from)];
    s.columns.erase(s.columns.begin() + from);
    s.columns.insert(s.columns.begin() + to, column);
  });
  choose_column(to);
}

void MainWindow::reset_column() {
  const auto column = std::size_t(study_->selected_column());
  if (!study_->problem()) return;
  change("reset", [&](Session& s) {
    if (column < s.columns.size())
      s.columns[column].values =
          values_for_length(find_variant(s.columns[column].variant), study_->problem()->n());
  });
}

void MainWindow::choose_head(Index layer, Index head) {
  change("head", [&](Session& s) {
    const auto length_of = [&](Index l) { return study_->source()->layers[std::size_t(l)].n(); };
    if (length_of(layer) != length_of(s.layer)) {  // other tokens
      s.viewport = canvas::whole(length_of(layer));
      s.pinned_query.reset();
    }
    s.layer = layer;
    s.head = head;
  });
}

}  // namespace fovea
