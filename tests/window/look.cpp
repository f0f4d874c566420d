// Not a test: takes pictures of the window. `look OUT.png SOURCE [WIDTHxHEIGHT] [VIEW,..]
// [VARIANT,..] [light|dark] [ROW:COL:SPAN|sweep|explore|heads|split|wipe|blink|parts|sinks|named|
// keys|export|goto|scale|find|restore|gallery|larger] [SECONDS]` on a display (xvfb-run); "-"
// leaves a choice to the window. "sweep" takes the sweep over n instead, "explore" and "heads" the
// settings that were tried, "keys", "export", "goto" and "scale" a dialog, "find" opens the find
// bar; "restore" offers sessions that were left behind; "split", "wipe" and "blink" compare the
// second column with exact, with the pointer on it; "parts", "sinks" and "named" raise the Spans
// dock; "gallery" has the heads of all layers, "larger" those in a window of their own. With
// SECONDS the picture is taken after that time, whatever is there.
#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <algorithm>
#include <cstdio>

#include "study/background.h"
#include "views/views.h"
#include "window/dialogs/sweep_dialog.h"
#include "window/docks/explore_dock.h"
#include "window/docks/measures_page.h"
#include "window/docks/triage_page.h"
#include "window/main_window.h"

namespace {

using namespace fovea;

void choose(Session& session, Index n, const QString& views, const QString& variants) {
  if (views != "-") {
    session.views.clear();
    for (const QString& view : views.split(','))
      if (const auto known = view_from(view.toStdString())) session.views.push_back(*known);
  }
  if (variants == "-") return;
  session.columns.clear();
  for (const QString& id : variants.split(',')) {
    const Variant& variant = find_variant(id.toStdString());
    session.columns.push_back(
        {.variant = variant.id, .values = values_for_length(variant, n), .seed = 0});
  }
}

int look_at_sweep(MainWindow& window, const QString& path) {
  window.findChild<QAction*>("sweep")->trigger();
  const auto complete = [&] { return window.sweep()->run().complete(); };
  if (!QTest::qWaitFor(complete, 120000)) std::puts("the sweep is not complete");
  QTest::qWait(200);
  return window.sweep()->grab().save(path) ? 0 : 1;
}

int look_at_exploration(MainWindow& window, ExploreDock::Page page, const QString& path) {
  window.docks().show_exploration(page);
  const auto complete = [&] {
    return window.exploration()->run().complete() && !window.exploration()->run().running();
  };
  if (!QTest::qWaitFor(complete, 120000)) std::puts("not all settings were tried");
  QTest::qWait(200);
  return window.grab().save(path) ? 0 : 1;
}

int look_at_measures(MainWindow& window, ExploreDock::Page page, const QString& path) {
  window.docks().show_exploration(page);
  const MeasuringPage& measuring = page == ExploreDock::Page::triage
                                       ? static_cast<MeasuringPage&>(window.exploration()->triage())
                                       : window.exploration()->measures();
  const auto complete = [&] { return !measuring.state().progress; };
  if (!QTest::qWaitFor(complete, 120000)) std::puts("not all heads are measured");
  QTest::qWait(200);
  return window.grab().save(path) ? 0 : 1;
}

/// A picture of a modal dialog.
int look_at_dialog(MainWindow& window, const char* action, const QString& path) {
  bool saved = false;
  QTimer::singleShot(500, [&] {
    QWidget* dialog = QApplication::activeModalWidget();
    if (!dialog) return;
    saved = dialog->grab().save(path);
    dialog->close();
  });
  window.findChild<QAction*>(action)->trigger();
  return saved ? 0 : 1;
}

void compare(MainWindow& window, const QString& mode) {
  window.study().select_column(1);
  window.findChild<QAction*>("compare_" + mode)->trigger();
  QTest::qWait(500);
  const QRectF panel = window.canvas().panel_place(0, 1);
  QTest::mouseMove(
      &window.canvas(),
      (panel.topLeft() + QPointF(0.3 * panel.width(), 0.7 * panel.height())).toPoint());
}

void show_spans(MainWindow& window, SpanChoice choice) {
  window.docks().show("Spans");
  if (choice == SpanChoice::named) {
    const Index n = window.study().length();
    window.editor().name_span({"system prompt", {0, n / 4}});
    window.editor().name_span({"question", {n / 2, n / 2 + 3}});
  }
  window.editor().choose_spans(choice);
  const auto read = [&] { return window.study().spans().status.empty(); };
  if (!QTest::qWaitFor(read, 60000)) std::puts("no table of spans");
}

/// A picture of all heads, in the dock or larger, when they are there.
int look_at_heads(MainWindow& window, bool larger, bool bars, const QString& path) {
  window.findChild<QCheckBox*>("all_layers")->setChecked(true);
  if (bars) window.findChild<QComboBox*>("head_bars")->setCurrentText("previous token");
  if (larger) window.findChild<QToolButton*>("larger_heads")->click();
  QWidget* looked_at = &window;
  if (larger) looked_at = window.findChild<QDialog*>("heads_window");
  if (larger) looked_at->resize(window.size());
  QTest::qWait(500);
  const auto complete = [&] {
    const auto& layers = window.study().source()->layers;
    const Index last = std::ssize(layers) - 1;
    return window.study().missing_cards() == 0 &&
           (!bars || window.study().measured_head(last, layers.back().heads() - 1));
  };
  if (!QTest::qWaitFor(complete, 180000)) std::puts("not all pictures are there");
  QTest::qWait(200);
  return looked_at->grab().save(path) ? 0 : 1;
}

void offer_sessions(MainWindow& window, const std::string& folder) {
  for (const char* source : {"another/head.safetensors", "synthetic:clusters?n=512&d=64&seed=1"}) {
    SessionFile file = window.files().session_file();
    file.session.source = source;
    RecoveryFile(folder).write(file);
  }
  window.recovery_bar().offer(RecoverySearch::of(folder));
}

int look(const QStringList& arguments) {
  const auto argument = [&](int i) { return arguments.size() > i ? arguments[i] : QString("-"); };
  QSettings().clear();
  QSettings().setValue("look", argument(6) == "light" ? "light" : "dark");
  MainWindow window(make_low_priority_backend());
  if (const QStringList size = argument(3).split('x'); size.size() == 2)
    window.resize(size[0].toInt(), size[1].toInt());
  window.show();
  window.open(argument(2));
  const auto settled = [&] { return window.study().settled(); };
  if (!QTest::qWaitFor(settled, 180000)) std::puts("not settled after opening");
  window.change("look", [&](Session& session) {
    choose(session, window.study().length(), argument(4), argument(5));
  });
  if (const QStringList part = argument(7).split(':'); part.size() == 3)
    window.change("look", [&](Session& session) {
      const double row = part[0].toDouble(), col = part[1].toDouble(), span = part[2].toDouble();
      session.viewport = {row, row + span, col, col + span};
    });
  if (argument(8) != "-") {
    QTest::qWait(int(1000 * argument(8).toDouble()));
    return window.grab().save(argument(1)) ? 0 : 1;
  }
  if (!QTest::qWaitFor(settled, 180000)) std::puts("not settled with these views");
  const bool bars = argument(7).endsWith("bars"), larger = argument(7).startsWith("larger");
  if (argument(7) == "gallery" || larger || bars)
    return look_at_heads(window, larger, bars, argument(1));
  if (argument(7) == "sweep") return look_at_sweep(window, argument(1));
  if (argument(7) == "explore")
    return look_at_exploration(window, ExploreDock::Page::plot, argument(1));
  if (argument(7) == "heads")
    return look_at_exploration(window, ExploreDock::Page::heads, argument(1));
  if (argument(7) == "measures")
    return look_at_measures(window, ExploreDock::Page::measures, argument(1));
  if (argument(7) == "triage")
    return look_at_measures(window, ExploreDock::Page::triage, argument(1));
  for (const char* dialog : {"keys", "export", "goto", "scale"})
    if (argument(7) == dialog) return look_at_dialog(window, dialog, argument(1));
  if (argument(7) == "find") window.findChild<QAction*>("find")->trigger();
  const QTemporaryDir recovery;
  if (argument(7) == "restore") offer_sessions(window, recovery.path().toStdString());
  for (const char* mode : {"split", "wipe", "blink"})
    if (argument(7) == mode) compare(window, mode);
  for (const SpanChoice choice : all_span_choices())
    if (argument(7).toStdString() == to_text(choice)) show_spans(window, choice);
  const auto timed = [&] {
    const auto& columns = window.study().columns();
    return std::ranges::all_of(columns, [](const ColumnState& column) {
      return column.time && column.time->timing.total.samples >= 32;
    });
  };
  if (!QTest::qWaitFor(timed, 15000)) std::puts("few runs so far");
  QTest::qWait(1000);  // head cards come in
  return window.grab().save(argument(1)) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QApplication::setOrganizationName("Fovea tests");
  QApplication::setApplicationName("Fovea look");
  if (argc < 3 || !QString(argv[1]).endsWith(".png"))  // a source in its place is not overwritten
    return std::puts(
               "look OUT.png SOURCE [WxH] [VIEW,..] [VARIANT,..] [light] [ROW:COL:SPAN|sweep] [S]"),
           2;
  return look(QApplication::arguments());
}
