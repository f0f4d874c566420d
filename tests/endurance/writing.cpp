// Figures, numbers and sessions are written into the folder of the run, and panels copied.
#include <QFile>
#include <QFileInfo>

#include "endurance/actions.h"
#include "figure/figure.h"
#include "figure/pgf_file.h"
#include "figure/preset.h"
#include "views/views.h"

namespace fovea::test {
namespace {

/// Waits until the file has been written again.
void expect_file(Desk& desk, const QString& path) {
  const auto there = [&] { return QFileInfo(path).size() > 0; };
  if (!desk.wait_until(there, 60000)) desk.log().failure(path.toStdString() + " was not written");
}

FigureStyle drawn_style(Draws& draws) {
  FigureStyle style{.width = 72.0 * draws.from_to(2, 8), .dpi = draws.from_to(72, 200)};
  if (draws.chance(0.5)) put_into(style, draws.one_of(presets()));
  style.letters = draws.chance(0.5);
  style.dark = draws.chance(0.3);
  return style;
}

bool has_panels(MainWindow& window) {
  const auto model = window.study().model();
  return model && !model->is_empty() && !model->cells.empty() && !model->cells[0].empty();
}

void export_canvas(Desk& desk) {
  MainWindow& window = desk.window();
  if (!has_panels(window)) return;
  static const QStringList endings{"png", "svg", "pdf", "pgf"};
  const QString path = desk.files().at(
      QString("canvas-%1.%2").arg(desk.draws().below(2)).arg(desk.draws().one_of(endings)));
  desk.log().line("  " + path.toStdString());
  if (const std::string body = pgf_body(path.toStdString()); !body.empty())
    QFile::remove(QString::fromStdString(body));
  QFile::remove(path);
  window.exports().export_to(path, drawn_style(desk.draws()), desk.draws().chance(0.8));
  expect_file(desk, path);
}

void export_panel(Desk& desk) {
  MainWindow& window = desk.window();
  if (!has_panels(window)) return;
  const auto& cells = window.study().model()->cells;
  const auto row = std::size_t(desk.draws().below(int(cells.size())));
  const auto column = std::size_t(desk.draws().below(int(cells[row].size())));
  const bool there = cells[row][column].panel != nullptr;
  const QString path = desk.files().at("panel-0.pdf"), numbers = desk.files().at("panel-0.json");
  QFile::remove(path);
  QFile::remove(numbers);
  window.exports().export_panel_to(path, row, column, drawn_style(desk.draws()));
  if (there) expect_file(desk, path);
}

void save_numbers(Desk& desk) {
  MainWindow& window = desk.window();
  if (!has_panels(window)) return;
  static const QStringList endings{"csv", "json"};
  const auto& cells = window.study().model()->cells;
  const auto row = std::size_t(desk.draws().below(int(cells.size())));
  const auto column = std::size_t(desk.draws().below(int(cells[row].size())));
  if (!cells[row][column].panel || std::holds_alternative<Message>(cells[row][column].panel->body))
    return;
  const QString path = desk.files().at("numbers." + desk.draws().one_of(endings));
  desk.log().line("  " + to_text(cells[row][column].panel->view) + " " + path.toStdString());
  QFile::remove(path);
  window.exports().save_numbers_to(path, row, column);
  expect_file(desk, path);
}

void save_session(Desk& desk) {
  MainWindow& window = desk.window();
  const auto source = window.study().source();
  if (!source || window.study().session().source.starts_with("live:")) return;
  const QString path = desk.files().at(QString("session-%1.fovea.json").arg(desk.draws().below(3)));
  QFile::remove(path);
  window.files().save_session_to(path);
  expect_file(desk, path);
}

void write_by_dialog(Desk& desk) {
  static const std::vector<const char*> names{
      "save", "save_as", "export", "export_panel", "save_numbers", "save_capture", "save_pairs"};
  const char* name = desk.draws().one_of(names);
  desk.log().line(std::string("  ") + name);
  trigger(desk, desk.window(), name);
}

void copy_panel(Desk& desk) {
  trigger(desk, desk.window(), "copy");
}

}  // namespace

std::vector<Action> writing_actions() {
  return {{"export the canvas", 3, export_canvas},   {"export a panel", 2, export_panel},
          {"save numbers", 2, save_numbers},         {"save a session", 3, save_session},
          {"write by a dialog", 3, write_by_dialog}, {"copy a panel", 2, copy_panel}};
}

}  // namespace fovea::test
