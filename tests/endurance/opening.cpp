// Sources of every kind, sessions and figures are opened, by menu, address and drop; undo and redo.
#include <QAction>
#include <QDir>
#include <QDropEvent>
#include <QMenu>
#include <QMimeData>
#include <QUrl>

#include "endurance/actions.h"
#include "endurance/checks.h"

namespace fovea::test {
namespace {

QString small_synthetic(Draws& draws) {
  static const QStringList names{"gaussian", "clusters", "smooth", "needle"};
  if (draws.chance(0.1)) return draws.chance(0.5) ? "synthetic:hmatrix" : "synthetic:golden";
  static const std::vector<int> lengths{1, 2, 3, 7, 16, 31, 64, 100, 128, 200, 256, 333, 512, 700};
  return QString("synthetic:%1?n=%2&d=%3&heads=%4&seed=%5")
      .arg(draws.one_of(names))
      .arg(draws.one_of(lengths))
      .arg(draws.one_of(std::vector{2, 4, 8, 16, 32, 64}))
      .arg(draws.from_to(1, 4))
      .arg(draws.below(5));
}

QString capture(Draws& draws) {
  const QDir folder(QString(FOVEA_TESTS) + "/captures");
  return folder.filePath(
      draws.one_of(folder.entryList({"*.safetensors"}, QDir::Files, QDir::Name)));
}

QString asset(Draws& draws) {
  static const QStringList paths{"/minilm/minilm-l6.safetensors", "/text/fovea.txt",
                                 "/image/cat.jpg", "/image/retina.jpg"};
  return QString(FOVEA_ASSETS) + draws.one_of(paths);
}

QString any_source(Desk& desk) {
  Draws& draws = desk.draws();
  switch (draws.below(4)) {
    case 0:
      return small_synthetic(draws);
    case 1:
      return capture(draws);
    case 2:
      return asset(draws);
    default:
      return draws.one_of(desk.files().good);
  }
}

void open_in_window(Desk& desk, const QString& what) {
  desk.log().line("  " + what.toStdString());
  desk.window().open(what);
}

void open_example(Desk& desk) {
  MainWindow& window = desk.window();
  QList<QAction*> entries;
  for (auto* menu : window.findChildren<QMenu*>())
    if (menu->title() == "Open &example")
      for (QAction* entry : menu->actions())
        if (!entry->isSeparator()) entries << entry;
  QAction* chosen = desk.draws().one_of(entries);
  desk.log().line("  " + chosen->text().toStdString());
  chosen->trigger();
}

void open_recent(Desk& desk) {
  MainWindow& window = desk.window();
  for (auto* menu : window.findChildren<QMenu*>()) {
    if (menu->title() != "Open &recent") continue;
    emit menu->aboutToShow();
    QAction* entry = desk.draws().one_of(menu->actions());
    desk.log().line("  " + entry->text().toStdString());
    if (!entry->isSeparator()) entry->trigger();
    return;
  }
}

void open_synthetic(Desk& desk) {
  open_in_window(desk, small_synthetic(desk.draws()));
}

void open_long(Desk& desk) {
  open_in_window(desk, QString("synthetic:clusters?n=%1&d=32&seed=%2")
                           .arg(desk.draws().from_to(8193, 30000))
                           .arg(desk.draws().below(3)));
}

void open_capture(Desk& desk) {
  open_in_window(desk, capture(desk.draws()));
}

void open_made(Desk& desk) {
  open_in_window(desk, desk.draws().one_of(desk.files().good));
}

void open_image(Desk& desk) {
  open_in_window(desk, QString(FOVEA_ASSETS) +
                           (desk.draws().chance(0.5) ? "/image/cat.jpg" : "/image/retina.jpg"));
}

void open_bad(Desk& desk) {
  static const QStringList addresses{"synthetic:nonsense",
                                     "synthetic:clusters?n=0",
                                     "/nonesuch/file",
                                     "synthetic:needle?d=1",
                                     "",
                                     "synthetic:gaussian?n=abc"};
  desk.expect_message();
  MainWindow& window = desk.window();
  window.info_bar().hide();
  const QString what = desk.draws().chance(0.3) ? desk.draws().one_of(addresses)
                                                : desk.draws().one_of(desk.files().bad);
  desk.log().line("  " + what.toStdString());
  const QPointer<MainWindow> alive = &window;
  window.open(what);
  const auto said = [&] { return !alive || !window.info_bar().message().isEmpty(); };
  if (!desk.wait_until(said, 60000))
    desk.log().failure("a bad source was not refused with a message");
}

/// The later one wins, or none where it is cancelled.
void open_two_at_once(Desk& desk) {
  MainWindow& window = desk.window();
  for (int i = 0; i < 2; ++i) {
    const QString what = any_source(desk);
    desk.log().line("  " + what.toStdString());
    window.open(what);
    desk.wait(desk.draws().below(30));
  }
  if (desk.draws().chance(0.3)) cancel_all(desk, window);
}

void drop_file(Desk& desk) {
  MainWindow& window = desk.window();
  const QString what = desk.draws().one_of(desk.files().good);
  desk.log().line("  " + what.toStdString());
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(what)});
  QDragEnterEvent enter({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&window, &enter);
  QDropEvent event({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&window, &event);
}

/// A session or a figure that the run has written.
void open_written(Desk& desk) {
  const QStringList names = QDir(desk.files().folder)
                                .entryList({"session-*.fovea.json", "canvas-*.png", "canvas-*.svg",
                                            "canvas-*.pdf", "panel-*.pdf"},
                                           QDir::Files, QDir::Name);
  if (names.isEmpty()) return;
  // A figure without its session is an image like any other, or no source at all.
  desk.expect_message();
  open_in_window(desk, desk.files().at(desk.draws().one_of(names)));
}

void open_by_address(Desk& desk) {
  trigger(desk, desk.window(), "open_address");
}

void open_by_dialog(Desk& desk) {
  const QString action =
      desk.draws().one_of(QStringList{"open", "open", "open_directory", "open_model"});
  trigger(desk, desk.window(), action.toUtf8().constData());
}

void undo(Desk& desk) {
  MainWindow& window = desk.window();
  const int steps = desk.draws().chance(0.2) ? desk.draws().from_to(2, 12) : 1;
  for (int i = 0; i < steps; ++i) {
    trigger(desk, window, desk.draws().chance(0.65) ? "undo" : "redo");
    if (desk.draws().chance(0.5)) desk.wait(desk.draws().below(60));
  }
}

}  // namespace

std::vector<Action> opening_actions() {
  return {{"open an example", 4, open_example},
          {"open a recent file", 1, open_recent},
          {"open a synthetic head", 6, open_synthetic},
          {"open a long head", 1, open_long},
          {"open a capture", 4, open_capture},
          {"open a file", 4, open_made},
          {"open an image", 2, open_image},
          {"open a bad file", 3, open_bad},
          {"open two sources at once", 2, open_two_at_once},
          {"drop a file", 2, drop_file},
          {"open a written session or figure", 3, open_written},
          {"open an address by its dialog", 1, open_by_address},
          {"open by a dialog", 1, open_by_dialog},
          {"undo and redo", 8, undo}};
}

}  // namespace fovea::test
