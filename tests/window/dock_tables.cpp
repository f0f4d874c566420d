// Tables and readings in the docks: sorted by keys, remembered, copied.
#include <doctest/doctest.h>

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDockWidget>
#include <QEnterEvent>
#include <QHeaderView>
#include <QMenu>
#include <QPointer>
#include <QStatusBar>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTextDocument>
#include <QTreeView>

#include "figure/painter_ink.h"
#include "input/session_file.h"
#include "io/safetensors_writer.h"
#include "views/views.h"
#include "window/dialogs/add_column_dialog.h"
#include "window/docks/pointer_box.h"
#include "window/pointer.h"
#include "window/widgets/fold.h"
#include "window/widgets/info_bar.h"
#include "window/widgets/readings.h"
#include "window/widgets/theme.h"

namespace fovea::test {
namespace {

QString copied() {
  return QApplication::clipboard()->text();
}

/// Triggers an entry of the context menu that a widget opens at a place.
void copy_by_menu(QWidget& widget, QPoint at, const QString& entry) {
  QContextMenuEvent event(QContextMenuEvent::Mouse, at, widget.mapToGlobal(at));
  QApplication::sendEvent(&widget, &event);
  QPointer<QWidget> menu;
  REQUIRE(wait_until([&] { return menu = QApplication::activePopupWidget(); }));
  QAction* found = nullptr;
  for (QAction* action : menu->actions())
    if (action->text().remove('&') == entry) found = action;
  REQUIRE_MESSAGE(found, "no entry " << entry.toStdString());
  found->trigger();
  menu->close();
}

QTableWidget& comparison(Window& window) {
  REQUIRE(wait_until([&] {
    return std::ranges::all_of(window.study().columns(), [](const ColumnState& c) {
      return c.metrics || is_reference(c.column.variant);
    });
  }));
  auto* table = window->findChild<QTableWidget*>("comparison");
  window->docks().show("Comparison");
  REQUIRE(wait_until([&] {
    return table->rowCount() > 10 && table->columnCount() == int(window.study().columns().size());
  }));
  return *table;
}

QStringList titles(const QTableWidget& table) {
  QStringList all;
  for (int c = 0; c < table.columnCount(); ++c) all << table.horizontalHeaderItem(c)->text();
  return all;
}

const Readings& readings(Window& window, const QString& name) {
  for (const auto* found : window->findChildren<Readings*>())
    if (found->accessibleName() == name) return *found;
  FAIL("there are no such readings");
  std::abort();
}

/// Every visible text of the readings.
QStringList texts(const Readings& of) {
  QStringList all;
  for (const auto* label : of.findChildren<QLabel*>())
    if (!label->isHidden()) all << label->text();
  return all;
}

}  // namespace

TEST_CASE("the comparison tells where the weights of each column lie, also of exact attention") {
  Window window(QString(FOVEA_TESTS) + "/captures/deepseek_v4.safetensors");
  window->change({}, [](Session& s) { s.layer = 2; });
  show(window, {find_view("heatmap")}, {"exact", "dsa"});
  REQUIRE(window.settle());
  const QTableWidget& table = comparison(window);
  const auto cell = [&](const QString& measure, int column) {
    for (int row = 0; row < table.rowCount(); ++row)
      if (table.verticalHeaderItem(row)->text() == measure) return table.item(row, column)->text();
    return QString("no such row");
  };
  for (const char* measure : {"mass on tokens", "mass on compressed entries", "mass on the sink"})
    for (const int column : {0, 1}) {
      CAPTURE(measure);
      CHECK(wait_until([&] { return cell(measure, column).toDouble() > 0; }));
    }
  CHECK(cell("relative output error", 0).isEmpty());
}

TEST_CASE("no number of the docks is broken, however long the label of another one") {
  const std::vector<Reading> short_ones{{"relative output error", "0.3565", ""},
                                        {"memory", "254 KiB", ""},
                                        {"Logit spread σ, level 2", "≈ 1.642", ""},
                                        {"Approximate attention, level 10", "0.09301", ""}};
  const std::vector<Reading> pairs{{"mean", "0.0009766 → 0.0001234", ""},
                                   {"largest of them", "1.234×10⁻⁵ → 4.321×10⁻⁵", ""}};
  const std::vector<Reading> with_text{
      {"token error, median", "0.3142", ""},
      {"rows", "1024 of 131072 rows were sampled for these figures", ""},
      {"token", QString(40, QChar(0x6f22)), ""}};  // long even where no font has the letter
  const auto check = [](const std::vector<Reading>& rows, int width) {
    Readings readings("Readings");
    readings.set_rows(rows);
    readings.resize(width, 400);
    readings.show();
    REQUIRE(wait_until([&] { return readings.isVisible(); }));
    QTest::qWait(20);
    CAPTURE(width);
    int seen = 0;
    for (const auto* value : readings.findChildren<QLabel*>()) {
      const QString text = value->text();
      if (value->isHidden() || text.isEmpty() || value->accessibleName().isEmpty()) continue;
      CAPTURE(text.toStdString());
      const QFontMetrics metrics = value->fontMetrics();
      const QRect drawn = metrics.boundingRect(QRect(0, 0, value->width(), 1000),
                                               value->wordWrap() ? Qt::TextWordWrap : 0, text);
      const bool is_text = text.startsWith("1024") || text.startsWith(QChar(0x6f22));
      CHECK((drawn.height() >= 2 * metrics.lineSpacing()) == is_text);
      CHECK(drawn.width() <= value->width());
      CHECK(value->geometry().right() < width);
      ++seen;
    }
    CHECK(seen == std::ssize(rows));
  };
  for (const int width : {180, 230, 300}) check(short_ones, width);
  for (const int width : {230, 300}) check(pairs, width);
  for (const int width : {180, 230}) check(with_text, width);
}

TEST_CASE("law: every column of every table has a title") {
  Window window(small);
  int tables = 0;
  for (const QAbstractItemView* view : window->findChildren<QAbstractItemView*>()) {
    const auto* table = qobject_cast<const QTableView*>(view);
    const auto* tree = qobject_cast<const QTreeView*>(view);
    if (!table && !tree) continue;
    CAPTURE(view->objectName().toStdString());
    CAPTURE(view->metaObject()->className());
    const int columns = view->model()->columnCount();
    const bool is_timing = view->objectName() == "timing";  // names before its numbers, notes after
    for (int column = is_timing ? 1 : 0; column < columns - (is_timing ? 1 : 0); ++column) {
      CAPTURE(column);
      CHECK_FALSE(view->model()->headerData(column, Qt::Horizontal).toString().isEmpty());
    }
    ++tables;
  }
  CHECK(tables >= 5);
}

TEST_CASE("a number stands before its token, also where that is Arabic") {
  Readings readings("Readings");
  const QString label = "7 “" + QString(QChar(0x2068)) + "\u0639\u0631\u0628" + QChar(0x2069) + "”";
  for (const char* link : {"", "7"}) {
    readings.set_rows({{.label = label, .value = "0.1", .tip = "", .link = link}});
    const auto* shown = readings.findChild<QLabel*>();
    QTextDocument text;
    if (shown->textFormat() == Qt::RichText)
      text.setHtml(shown->text());
    else
      CHECK_FALSE(shown->text().isRightToLeft());
    CHECK(text.firstBlock().textDirection() == Qt::LeftToRight);
  }
}

TEST_CASE("the comparison is sorted, its columns selected and its cells copied by keys") {
  Window window(small);
  QTableWidget& table = comparison(window);
  auto* sort = window->findChild<QComboBox*>("comparison_order");
  REQUIRE(sort);
  CHECK(sort->accessibleName() == "Sort by");
  const QStringList first = titles(table);
  window->activateWindow();
  table.setFocus();
  REQUIRE(wait_until([&] { return table.hasFocus(); }));
  table.setCurrentCell(0, 0);  // the relative output error
  QTest::keyClick(&table, Qt::Key_Right);
  REQUIRE(table.currentColumn() == 1);
  QTest::keyClick(&table, Qt::Key_Return);
  CHECK(titles(table) != first);
  CHECK(sort->currentText() == "relative output error");
  CHECK(table.item(0, 0)->font().bold());
  const int column = int(first.indexOf(titles(table)[1]));
  QTest::keyClick(&table, Qt::Key_Space);
  CHECK(window.study().selected_column() == column);
  QTest::keyClick(&table, Qt::Key_C, Qt::ControlModifier);
  CHECK(copied() == table.item(0, 1)->text());
  QTest::keyClick(&table, Qt::Key_Down, Qt::ShiftModifier);
  QTest::keyClick(&table, Qt::Key_C, Qt::ControlModifier);
  CHECK(copied() == table.item(0, 1)->text() + "\n" + table.item(1, 1)->text());
  QTest::keyClick(&table, Qt::Key_Return);  // by the second measure
  QTest::keyClick(&table, Qt::Key_Return);
  CHECK(titles(table) == first);
  sort->setFocus();
  QTest::keyClick(sort, Qt::Key_Down);
  CHECK(titles(table) != first);
  copy_by_menu(*table.viewport(), table.visualItemRect(table.item(0, 1)).center(),
               "Order of the canvas");
  CHECK(titles(table) == first);
  copy_by_menu(*table.viewport(), table.visualItemRect(table.item(0, 1)).center(),
               "Copy table as Markdown");
  CHECK(copied().contains("| relative output error |"));
}

TEST_CASE("sort orders stay for the next file, and a session brings its own back") {
  const QTemporaryDir dir;
  const QString saved = dir.filePath("sorted.fovea.json");
  Window window(assets + "/minilm/minilm-l6.safetensors");
  QTableWidget& table = comparison(window);
  auto* heads = window->findChild<QComboBox*>("head_order");
  auto* layers = window->findChild<QCheckBox*>("all_layers");
  const QStringList first = titles(table);
  emit table.verticalHeader()->sectionClicked(0);
  heads->setCurrentText("entropy");
  layers->setChecked(true);
  const SortOrders orders{"output_rel_fro", HeadOrder::entropy, true};
  REQUIRE(window.save(saved));
  CHECK(read_session(saved.toStdString()).orders == orders);
  window->open(small);
  REQUIRE(wait_until([&] { return window.study().length() == 128; }));
  CHECK(window->docks().orders() == orders);
  window->docks().sort({});
  CHECK(heads->currentText() == "index");
  window->open(saved);
  REQUIRE(wait_until([&] { return window.study().length() != 128 && window.settle(); }));
  CHECK(window->docks().orders() == orders);
  CHECK(comparison(window).item(0, 0)->font().bold());
}

TEST_CASE("timing is copied by keys and by its menu, with its stages") {
  Window window(small);
  REQUIRE(wait_until([&] { return window.study().columns()[1].time != nullptr; }));
  QTableWidget& table = *window->docks().timing;
  window->docks().show("Timing");
  window->activateWindow();
  table.setFocus();
  REQUIRE(wait_until([&] { return table.hasFocus(); }));
  table.setCurrentCell(1, 0);
  QTest::keyClick(&table, Qt::Key_C, Qt::ControlModifier);
  CHECK(copied() == table.item(1, 0)->text());
  copy_by_menu(*table.viewport(), table.visualItemRect(table.item(1, 0)).center(),
               "Copy table as text");
  const QStringList lines = copied().split('\n');
  REQUIRE(lines.size() > int(window.study().columns().size()));
  CHECK(lines[0].contains("\tmemory\t"));
  CHECK(lines[2].startsWith(table.item(1, 0)->text() + "\t"));
  CHECK(lines[2].contains("plan "));
}

TEST_CASE("the colours of stages stand in one line below the times") {
  Window window(small);
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  window->docks().show("Timing");
  REQUIRE(wait_until([&] { return window.study().columns()[1].time != nullptr; }));
  QTableWidget& table = *window->docks().timing;
  const auto squares = [&] {  // of the first stages
    const QWidget& viewport = *table.viewport();
    const QImage line =
        table.viewport()->grab({0, viewport.height() - 14, viewport.width(), 14}).toImage();
    int found = 0;
    for (std::size_t stage = 1; stage <= 2; ++stage) {
      const QRgb colour = qcolor(window_style().series_colour(stage)).rgb();
      int pixels = 0;
      for (int y = 0; y < line.height(); ++y)
        for (int x = 0; x < line.width(); ++x) pixels += line.pixel(x, y) == colour;
      found += pixels == 64;
    }
    return found;
  };
  CHECK(wait_until([&] { return squares() == 2; }));
}

TEST_CASE("readings and texts of the docks are copied") {
  Window window(small);
  REQUIRE(wait_until([&] { return window.study().columns()[1].metrics != nullptr; }));
  REQUIRE(window.settle());
  window.study().select_column(1);
  window->docks().column->findChild<Fold*>("fold_measures")->set_open(true);
  const auto& against = readings(window, "Against exact");
  REQUIRE(wait_until([&] { return texts(against).size() > 10; }));
  QLabel* value = nullptr;
  for (auto* label : against.findChildren<QLabel*>())
    if (label->accessibleName() == "relative output error") value = label;
  REQUIRE(value);
  copy_by_menu(*value, {3, 3}, "Copy");
  CHECK(copied() == "relative output error\t" + value->text());
  copy_by_menu(*value, {3, 3}, "Copy table as text");
  CHECK(copied().contains("relative output error\t" + value->text() + "\n"));
  CHECK(copied().contains("multiply-adds\t"));
  // What is selected is copied, not a panel.
  window->activateWindow();
  for (QLabel* label : {value, window->statusBar()->findChildren<QLabel*>().last()}) {
    CAPTURE(label->text().toStdString());
    QEnterEvent enter(QPointF(1, 1), QPointF(1, 1), label->mapToGlobal(QPointF(1, 1)));
    QApplication::sendEvent(label, &enter);  // a person selects what is under the pointer
    label->setFocus();
    label->setSelection(0, 3);
    QApplication::clipboard()->setText("before");
    QTest::keyClick(label, Qt::Key_C, Qt::ControlModifier);
    CHECK(copied() == label->text().left(3));
  }
  for (const auto* dock : {"Input", "Column"})
    for (const auto* label : window->findChild<QDockWidget*>(dock)->findChildren<QLabel*>())
      if (const QString text = label->text(); text.contains("mask ") || text.contains("q k v")) {
        CAPTURE(text.toStdString());
        CHECK(label->textInteractionFlags().testFlag(Qt::TextSelectableByMouse));
      }
}

TEST_CASE("the inspector lists a pair in every column, and keeps its height") {
  Window window(small);
  show(window, {find_view("mask")}, {"exact", "h1d", "strided"});  // no number is on the canvas
  REQUIRE(window.settle());
  std::vector<std::shared_ptr<const PairReading>> pairs;
  QObject::connect(&window.study(), &Study::pairs_read, [&](auto read) { pairs = read; });
  const auto points_at = [&](Index query, Index key, int column) {
    window.study().hover(query, key, column);
    return wait_until([&] {
      return pairs.size() == 3 && std::ranges::all_of(pairs, [&](const auto& pair) {
               return pair && pair->query == query && pair->key == key;
             });
    });
  };
  const auto& pair = readings(window, "Under the cursor");
  REQUIRE(points_at(40, 44, 1));
  for (int c = 0; c < 3; ++c) {
    const PairReading& read = *pairs[std::size_t(c)];
    const QString title = QString::fromStdString(window.study().title_of(c));
    CHECK(said(window, title).toStdString() == format_drawn(read.approximate));
    if (c > 0)
      CHECK(said(window, title + ", error").toStdString() ==
            format_drawn(read.approximate - read.exact));
  }
  window.shoot("inspector");
  const auto height = pair.sizeHint().height();
  window->change("error", [](Session& s) { set_value(s.settings, "error", "squared"); });
  CHECK(wait_until([&] {
    const double error = pairs[1]->approximate - pairs[1]->exact;
    return said(window, "H-Transformer-1D, error").toStdString() == format_drawn(error * error);
  }));
  for (const auto& [query, key, column] :
       {std::tuple<Index, Index, int>{40, 100, 1}, {3, 120, 0}, {90, 17, 2}}) {
    REQUIRE(points_at(query, key, column));
    CHECK(pair.sizeHint().height() == height);
  }
  // The pair stays when the pointer leaves, and has no dashes for what it does not have.
  const QString last = said(window, "Exact");
  window.study().hover(-1, -1, -1);
  CHECK(said(window, "Exact") == last);
  CHECK(pair.sizeHint().height() == height);
  CHECK(texts(pair).filter("–").size() == 1);  // the error of exact attention
  for (const auto* label : pair.findChildren<QLabel*>())
    if (!label->isHidden() && !label->text().isEmpty() && label->text() != "query" &&
        label->text() != "key" && label->accessibleName() != "query" &&
        label->accessibleName() != "key") {
      CAPTURE(label->text().toStdString());
      CHECK_FALSE(label->toolTip().isEmpty());
    }
}

TEST_CASE("rich text has the colours of the theme that is chosen") {
  const QTemporaryDir dir;
  const std::string path = dir.filePath("heads.safetensors").toStdString();
  const std::vector<float> numbers(32 * 4, 0.5f);
  write_safetensors(
      path, {{"q", {32, 4}, numbers}, {"k", {32, 4}, numbers}, {"v", {32, 4}, numbers}}, {});
  Window window(QString::fromStdString(path), {1600, 1000}, "light");
  REQUIRE(window.settle());
  REQUIRE(wait_until([&] { return window->findChild<QLabel*>("mask_warning")->isVisible(); }));
  window->set_look("dark");
  QTest::qWait(50);
  int links = 0;
  for (auto* label : window->findChildren<QLabel*>()) {
    const QString text = label->text();
    if (!label->isVisible() || !text.contains("<a ")) continue;
    CAPTURE(text.toStdString());
    const QImage followed = label->grab().toImage();
    label->clear();
    label->setText(text);
    CHECK(followed == label->grab().toImage());
    ++links;
  }
  CHECK(links > 0);
  for (auto* menu : window->findChildren<QMenu*>()) {
    if (menu->title() != "T&heme") continue;
    emit menu->aboutToShow();
    for (const QAction* action : menu->actions())
      CHECK(action->isChecked() == (action->text() == "Dark"));
  }
  const QTableWidget& timing = *window->docks().timing;
  CHECK(timing.horizontalHeaderItem(1)->toolTip().contains(
      qcolor(window_style().series_colour(1)).name()));
}

TEST_CASE("with nothing open, docks say so and show neither fields nor headings") {
  MainWindow window(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  window.show();
  const auto shown = [&](const char* dock) {
    QStringList parts;
    const auto* page = window.findChild<QDockWidget*>(dock)->findChild<QWidget*>("dock_page");
    for (const auto* part : page->findChildren<QWidget*>()) {
      const auto* label = qobject_cast<const QLabel*>(part);
      if (part->isVisible()) parts << (label ? label->text() : part->metaObject()->className());
    }
    return parts;
  };
  CHECK(shown("Input") == QStringList("Nothing is open."));
  CHECK(shown("Column") == QStringList("Nothing is open."));
  window.docks().show("Timing");
  const auto* timing = window.findChild<QTableWidget*>("timing");
  const auto* said = timing->viewport()->findChild<QLabel*>();
  CHECK(said->text() == "Nothing is open.");
  CHECK(said->isVisible());
  CHECK(timing->accessibleDescription() == said->text());
  CHECK_FALSE(timing->horizontalHeader()->isVisible());
  for (QAction* add : window.findChildren<QAction*>("add_columns")) {
    add->trigger();
    CHECK(window.info_bar().message().startsWith("Nothing is open: open a text"));
    CHECK_FALSE((window.add_columns() && window.add_columns()->isVisible()));
  }
  window.study().open("synthetic:clusters?n=64&d=8&seed=1&heads=2");
  REQUIRE(wait_until([&] { return window.study().problem() && !window.study().opening(); }));
  window.study().select_column(1);
  CHECK(shown("Input").contains("&Layer"));
  CHECK(shown("Column").contains("&Seed"));
  for (const char* dock : {"Input", "Column"})
    CHECK(shown(dock).filter("Nothing is open").isEmpty());
  CHECK_FALSE(said->isVisible());
  CHECK(timing->accessibleDescription().isEmpty());
  CHECK(timing->horizontalHeader()->isVisible());
}

TEST_CASE("tokens and names of files are shown as they are, not as HTML") {
  const QTemporaryDir dir;
  QFile file(dir.filePath("<b>names.json"));
  REQUIRE(file.open(QFile::WriteOnly));
  file.write("[\"a\", \"<b>x\", \"c\", \"<i>y</i>\", \"e\", \"<b>z\", \"g\", \"h\"]");
  file.close();
  Window window(file.fileName());
  window->change("pin", [](Session& s) { s.pinned_query = 1; });
  show(window, {find_view("heatmap")});
  point(window, at_pair(window, find_view("heatmap"), 0, 5, 3));
  REQUIRE(wait_until(
      [&] { return !texts(readings(window, "Under the cursor")).filter("<b>z").isEmpty(); }));
  int shown = 0, explained = 0;
  for (const auto* label : window->findChildren<QLabel*>()) {
    if (!label->text().contains("<b>") && !label->text().contains("<i>y")) continue;
    CAPTURE(label->text().toStdString());
    CHECK(label->textFormat() == Qt::PlainText);
    ++shown;
  }
  for (const auto* widget : window->findChildren<QWidget*>()) {
    const QString tip = widget->toolTip();
    if (!tip.contains("<i>y") && !tip.contains("<b>") && !tip.contains("&lt;")) continue;
    CAPTURE(tip.toStdString());
    CHECK_FALSE(tip.contains("<i>y"));
    CHECK_FALSE(tip.contains("<b>"));
    ++explained;
  }
  CHECK(shown >= 4);  // the file, the pinned query, the query and the key of the pair
  CHECK(explained >= 3);
}

}  // namespace fovea::test
