// The dialog that asks how a figure is to be written.
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QTimer>

#include "input/session_file.h"
#include "views/views.h"
#include "window/canvas_figure.h"
#include "window/dialogs/export_dialog.h"
#include "window/pointer.h"

namespace fovea::test {
namespace {

/// Opens the dialog, of the canvas or of one panel, does something with it, and closes it; cancels
/// the question for a file.
void with_export_dialog(Window& window, const std::function<void(QDialog&)>& act,
                        bool of_panel = false) {
  bool seen = false;
  QTimer timer;
  QObject::connect(&timer, &QTimer::timeout, &timer, [&] {
    auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
    if (auto* files = qobject_cast<QFileDialog*>(dialog)) return files->reject();
    if (!dialog || seen) return;
    seen = true;
    act(*dialog);
    dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok)->click();
  });
  timer.start(50);
  if (of_panel)
    window->exports().export_panel_by_dialog(0, 1);
  else
    window.trigger("export");
  CHECK(seen);
}

template <class Field>
Field& field(QDialog& dialog, const char* name) {
  auto* found = dialog.findChild<Field*>(name);
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("the export of a plot offers no choices that are for panels") {
  Window window(small);
  bool seen = false;
  QTimer timer;
  QObject::connect(&timer, &QTimer::timeout, [&] {
    auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
    if (!dialog) return;
    seen = true;
    for (const char* name : {"export_empty_panels", "export_row_names", "export_letters"})
      CHECK_FALSE(field<QCheckBox>(*dialog, name).isVisible());
    CHECK_FALSE(field<QComboBox>(*dialog, "export_captions").isVisible());
    CHECK(field<QComboBox>(*dialog, "export_width").isVisible());
    dialog->reject();
  });
  timer.start(50);
  ask_export(*window, {"A plot", "plot.pdf",
                       [](const FigureStyle& style, bool) {
                         Figure figure;
                         figure.style = style;
                         return figure;
                       },
                       false});
  CHECK(seen);
}

TEST_CASE("the export dialog shows the figure and keeps all answers for the next export") {
  QSettings().remove("export");
  Window window(small);
  show(window, {find_view("heatmap"), find_view("error")}, {"exact", "hyper"});
  REQUIRE(window.settle());
  with_export_dialog(window, [](QDialog& dialog) {
    const auto drawn = [&] { return !field<QLabel>(dialog, "export_preview").pixmap().isNull(); };
    CHECK(wait_until(drawn));
    CHECK(field<QComboBox>(dialog, "export_captions").currentIndex() == int(Captions::line));
    CHECK(field<QCheckBox>(dialog, "export_footer").isChecked());
    field<QComboBox>(dialog, "export_width").setCurrentText("NeurIPS: 5.5 in");
    CHECK(field<QDoubleSpinBox>(dialog, "export_font_size").value() == 9);
    CHECK_FALSE(field<QCheckBox>(dialog, "export_footer").isChecked());
    CHECK(field<QCheckBox>(dialog, "export_row_names").isChecked());
    field<QComboBox>(dialog, "export_captions").setCurrentIndex(int(Captions::none));
    field<QComboBox>(dialog, "export_look").setCurrentIndex(1);
    field<QComboBox>(dialog, "export_font").setCurrentText("DejaVu Serif");
    field<QDoubleSpinBox>(dialog, "export_font_size").setValue(8.5);
    field<QSpinBox>(dialog, "export_resolution").setValue(150);
    for (const char* name : {"export_footer", "export_empty_panels", "export_row_names",
                             "export_letters", "export_session"})
      field<QCheckBox>(dialog, name).toggle();
  });
  with_export_dialog(window, [](QDialog& dialog) {
    CHECK(field<QComboBox>(dialog, "export_width").currentText() == "NeurIPS: 5.5 in");
    CHECK(field<QComboBox>(dialog, "export_captions").currentIndex() == int(Captions::none));
    CHECK(field<QComboBox>(dialog, "export_look").currentIndex() == 1);
    CHECK(field<QComboBox>(dialog, "export_font").currentText() == "DejaVu Serif");
    CHECK(field<QDoubleSpinBox>(dialog, "export_font_size").value() == 8.5);
    CHECK(field<QSpinBox>(dialog, "export_resolution").value() == 150);
    for (const char* name : {"export_footer", "export_empty_panels", "export_letters"})
      CHECK(field<QCheckBox>(dialog, name).isChecked());
    for (const char* name : {"export_row_names", "export_session"})
      CHECK_FALSE(field<QCheckBox>(dialog, name).isChecked());
  });
  QSettings().remove("export");
}

TEST_CASE("the export dialog copies a caption for LaTeX, without the source if none is carried") {
  QSettings().remove("export");
  Window window(small);
  show(window, {find_view("heatmap"), find_view("error")}, {"exact", "hyper"});
  REQUIRE(window.settle());
  with_export_dialog(window, [&](QDialog& dialog) {
    for (const bool carries : {true, false}) {
      field<QCheckBox>(dialog, "export_session").setChecked(carries);
      field<QPushButton>(dialog, "export_copy_caption").click();
      const QString caption = QApplication::clipboard()->text();
      CHECK(caption.contains("Rows: "));
      CHECK(caption.contains("Columns: "));
      CHECK(caption.contains("relative output error"));
      CHECK(caption.contains("Head: "));
      CHECK_FALSE(caption.contains("CPU"));
      CAPTURE(caption.toStdString());
      CHECK(caption.contains("clusters") == carries);
    }
  });
  const auto copy_of_panel = [](QDialog& dialog) {
    for (const bool carries : {true, false}) {
      field<QCheckBox>(dialog, "export_session").setChecked(carries);
      field<QPushButton>(dialog, "export_copy_caption").click();
      const QString caption = QApplication::clipboard()->text();
      CHECK(caption.contains("Head: "));
      CHECK(caption.contains("clusters") == carries);
    }
  };
  with_export_dialog(window, copy_of_panel, true);
  QSettings().remove("export");
}

TEST_CASE("a figure says that a tree was learned elsewhere, of the panels that it has") {
  CanvasModel model;
  model.views = {find_view("heatmap")};
  model.cells.resize(1);
  for (const char* title : {"Exact", "Treeformer TF"}) {
    model.column_titles.push_back(title);
    model.cells[0].push_back(
        {std::make_shared<const Panel>(Panel{.view = model.views[0]}), false, ""});
  }
  model.column_figures = {std::nullopt, ColumnFigures{.parameters = "height 4, learned"}};
  CHECK(figure_of(model, 0.5, {}, {}).remarks.empty());
  model.column_figures[1]->tree_learned_on = "layer2, head 3";
  const std::string words = "Treeformer TF: its tree was learned on layer2, head 3. ";
  CHECK(figure_of(model, 0.5, {}, {}).remarks == words);
  CHECK(figure_of_panel(model, 0.5, 0, 1, {}, {}).remarks == words);
  CHECK(figure_of_panel(model, 0.5, 0, 0, {}, {}).remarks.empty());
}

TEST_CASE("a report of the head is written from the window, and names what it leaves out") {
  Window window(small);
  show(window, {find_view("heatmap")}, {"exact", "h1d", "window"});
  window->change("hold", [](Session& s) { s.columns[2].held = HeldHead{}; });
  REQUIRE(window.settle());
  const Study& study = window.study();
  REQUIRE(wait_until(
      [&] { return study.columns()[1].time && study.columns()[1].time->total_speed_up; }));
  window.study().cancel();  // no more rounds
  REQUIRE(wait_until([&] { return !study.status().busy(); }));
  const MeasuredTime timed = *study.columns()[1].time;
  const QTemporaryDir dir;
  const QString path = dir.filePath("report.html");
  window->exports().report_to(path);
  REQUIRE(wait_until([&] { return !window->exports().writing(); }));
  QFile file(path);
  REQUIRE(file.open(QFile::ReadOnly));
  const QString text = QString::fromUtf8(file.readAll());
  CHECK(text.contains("H-Transformer-1D"));
  CHECK(text.contains("relative output error"));
  CHECK(text.contains("left out: Window"));
  CHECK(text.contains("<pre>fovea report report.html -o again.html</pre>"));
  // Its times are those of the window, and not of other rounds.
  CHECK(text.contains("Times, which were measured in the window, are medians"));
  CHECK(text.contains(QString::fromStdString(to_text(*timed.total_speed_up))));
  CHECK(text.contains(QString::fromStdString(format_time(timed.timing.total.median_ms))));
  CHECK(read_session(path.toStdString()).session == window.study().session());
}

}  // namespace fovea::test
