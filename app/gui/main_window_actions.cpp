// What the menus and keys of the MainWindow do.
#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QInputDialog>
#include <QKeySequenceEdit>
#include <QMessageBox>
#include <QPainter>
#include <QRegularExpression>
#include <QScrollArea>
#include <QSettings>
#include <algorithm>
#include <cmath>

#include "gui/export_dialog.h"
#include "gui/info_bar.h"
#include "gui/main_window.h"
#include "gui/polite_backend.h"
#include "gui/sweep_dialog.h"
#include "gui/theme.h"
#include "input/open_source.h"

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
  const auto row = std::size_t(std::max(0, hovered_view_)),
             column = std::size_t(study_->selected_column());
  if (!model || row >= model->cells.size() || column >= model->cells[row].size() ||
      !model->cells[row][column].panel)
    return;
  constexpr double points = 252, scale = 4;
  QImage image(int(points * scale), int(points * scale), QImage::Format_RGB32);
  FigureStyle style;
  style.dark = Theme::current().window == Theme::dark().window;
  style.colormap = model->settings.colormap;
  style.log_floor = model->settings.log_floor;
  image.fill(style.dark ? Theme::dark().window : QColor(Qt::white));
  QPainter painter(&image);
  painter.scale(scale, scale);
  draw_panel(painter, QRectF(0, 0, points, points), *model->cells[row][column].panel, style);
  painter.end();
  QApplication::clipboard()->setImage(image);
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
    const double r = std::clamp(double(query) - rows / 2, 0.0, double(n) - rows),
                 c = std::clamp(double(key) - cols / 2, 0.0, double(n) - cols);
    s.viewport = {r, r + rows, c, c + cols};
    s.pinned_query = query;
  });
  study_->hover(query, key, study_->selected_column());
}

void MainWindow::find_token() {
  const auto source = study_->source();
  if (!source || source->sequence.tokens.empty())
    return tell("There are no tokens to search: this source has none.");
  bool ok = false;
  const QString text =
      QInputDialog::getText(this, "Find a token", "Text in it", QLineEdit::Normal, {}, &ok);
  if (!ok || text.isEmpty()) return;
  const auto& tokens = source->sequence.tokens;
  const std::size_t from = std::size_t(study_->session().pinned_query.value_or(-1) + 1);
  for (std::size_t step = 0; step < tokens.size(); ++step) {
    const std::size_t i = (from + step) % tokens.size();
    if (QString::fromStdString(tokens[i]).contains(text, Qt::CaseInsensitive)) return pin(Index(i));
  }
  tell(QString("No token contains “%1”.").arg(text));
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
  QDialog dialog(this);
  dialog.setWindowTitle("Keys");
  auto* column = new QVBoxLayout(&dialog);
  column->addWidget(make_note(
      "Click a field and press keys to change them. In the canvas: drag selects a rectangle, "
      "click pins a row, wheel zooms, Shift held shows exact in place."));
  auto* page = new QWidget;
  auto* form = new QFormLayout(page);
  std::vector<std::pair<QAction*, QKeySequenceEdit*>> edits;
  for (QAction* action : findChildren<QAction*>()) {
    if (action->objectName().isEmpty()) continue;
    auto* edit = new QKeySequenceEdit(action->shortcut());
    edit->setAccessibleName(action->text().remove('&'));
    form->addRow(action->text().remove('&'), edit);
    edits.emplace_back(action, edit);
  }
  auto* scroll = new QScrollArea;
  scroll->setWidget(page);
  scroll->setWidgetResizable(true);
  column->addWidget(scroll, 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Close);
  connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  column->addWidget(buttons);
  dialog.resize(440, 640);
  if (dialog.exec() != QDialog::Accepted) return;
  QSettings settings;
  for (const auto& [action, edit] : edits) {
    if (action->shortcut() == edit->keySequence()) continue;
    action->setShortcut(edit->keySequence());
    settings.setValue("keys/" + action->objectName(), edit->keySequence().toString());
  }
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

void MainWindow::show_picture(View view, bool on) {
  change("views", [&](Session& s) {
    std::erase(s.views, view);
    if (on) s.views.push_back(view);
    std::ranges::sort(s.views);
    if (s.views.empty()) s.views.push_back(View::heatmap);
  });
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
}

void MainWindow::move_column(int from, int to) {
  const int count = int(study_->session().columns.size());
  if (from == to || from < 0 || to < 0 || from >= count || to >= count) return;
  change("move", [&](Session& s) {
    const Column column = s.columns[std::size_t(from)];
    s.columns.erase(s.columns.begin() + from);
    s.columns.insert(s.columns.begin() + to, column);
  });
  study_->select_column(to);
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

void MainWindow::pan(double rows, double cols) {
  if (study_->length() == 0) return;
  const double n = double(study_->length());
  change("viewport", [&](Session& s) {
    Viewport& v = s.viewport;
    const double height = v.row_end - v.row_begin, width = v.col_end - v.col_begin;
    v.row_begin = std::clamp(v.row_begin + rows * height, 0.0, n - height);
    v.col_begin = std::clamp(v.col_begin + cols * width, 0.0, n - width);
    v.row_end = v.row_begin + height;
    v.col_end = v.col_begin + width;
  });
}

void MainWindow::zoom(double factor) {
  if (study_->length() == 0) return;
  const double n = double(study_->length());
  const auto scaled = [&](double& begin, double& end) {
    const double size = std::clamp((end - begin) * factor, std::min(4.0, n), n),
                 middle = (begin + end) / 2;
    begin = std::clamp(middle - size / 2, 0.0, n - size);
    end = begin + size;
  };
  change("viewport", [&](Session& s) {
    scaled(s.viewport.row_begin, s.viewport.row_end);
    scaled(s.viewport.col_begin, s.viewport.col_end);
  });
}

void MainWindow::fit() {
  if (study_->length() == 0) return;
  const double n = double(study_->length());
  change("viewport", [&](Session& s) { s.viewport = {0, n, 0, n}; });
}

void MainWindow::choose_head(Index layer, Index head) {
  change("head", [&](Session& s) {
    s.layer = layer;
    s.head = head;
  });
}

void MainWindow::pin(Index query) {
  change("pin", [&](Session& s) {
    if (s.pinned_query == query)
      s.pinned_query.reset();
    else
      s.pinned_query = query;
  });
}

}  // namespace fovea
