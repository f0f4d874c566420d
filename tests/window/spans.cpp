// The Spans dock: its table, what a click selects, spans that are named, and room for all of it.
#include <doctest/doctest.h>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTableView>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolButton>
#include <set>

#include "views/views.h"
#include "window/pointer.h"
#include "window/widgets/fold.h"

namespace fovea::test {
namespace {

const QString a_text = "content:" + assets + "/text/fovea.txt";

/// The dock, raised.
struct SpansDock {
  explicit SpansDock(Window& in) : window(in), dock(*in->findChild<QDockWidget*>("Spans")) {
    window->docks().show("Spans");
    wait_until([&] { return !note().isEmpty(); });
  }
  template <class Widget>
  Widget& part(const char* name) {
    auto* found = dock.findChild<Widget*>(name);
    REQUIRE(found);
    return *found;
  }
  QTableView& table() { return part<QTableView>("spans"); }
  QTableWidget& named() { return part<QTableWidget>("named_spans"); }
  QString note() { return part<QLabel>("span_note").text(); }
  QString fault() {
    auto& label = part<QLabel>("span_fault");
    return label.isVisible() ? label.text() : QString();
  }
  QVariant cell(int row, int column, int role = Qt::DisplayRole) {
    const auto* model = table().model();
    return model->data(model->index(row, column), role);
  }
  QString header(Qt::Orientation of, int section, int role = Qt::DisplayRole) {
    return table().model()->headerData(section, of, role).toString();
  }
  /// The numbers are those of what is chosen now.
  void wait() {
    REQUIRE(wait_until([&] {
      const SpanReadings::State& state = window.study().spans();
      return window.study().settled() && state.reading && state.status.empty() && !state.stale;
    }));
  }
  void choose(SpanChoice choice) {
    auto& box = part<QComboBox>("span_choice");
    box.setCurrentIndex(int(choice));
    emit box.activated(int(choice));
    QTest::qWait(20);
  }
  void show_numbers(const QString& which) {
    auto& box = part<QComboBox>("span_numbers");
    box.setCurrentText(which);
    emit box.activated(box.currentIndex());
  }
  void add(const QString& name, const QString& tokens) {
    part<QLineEdit>("span_name").setText(name);
    part<QLineEdit>("span_tokens").setText(tokens);
    part<QPushButton>("add_span").click();
  }
  /// What "Name tokens…" offers; the entry with these words is chosen.
  QStringList offer(const QString& words = {}) {
    QMenu& menu = *part<QToolButton>("name_selection").menu();
    emit menu.aboutToShow();
    QStringList offered;
    QAction* chosen = nullptr;
    for (QAction* entry : menu.actions()) {
      offered << entry->text().remove('&');
      if (offered.back() == words) chosen = entry;
    }
    if (chosen) chosen->trigger();
    return offered;
  }

  Window& window;
  QDockWidget& dock;
};

QString in_words(double value) {
  return QString::fromStdString(format_number(value, 3));
}

std::string selected(Window& window) {
  const auto& now = window.study().selection();
  if (!now) return "";
  const auto words = [](IndexRange r) {
    return std::to_string(r.begin) + "-" + std::to_string(r.end);
  };
  return words(now->first) + " " + words(now->second);
}

}  // namespace

TEST_CASE("the table of spans has the mass of the selected column beside exact attention") {
  Window window(a_text);
  show(window, {find_view("heatmap")}, {"exact", "h1d", "strided"});
  window.study().select_column(1);
  SpansDock spans(window);
  spans.wait();
  for (const int column : {1, 2}) {
    window.study().select_column(column);
    QTest::qWait(1);
    spans.wait();
    Profile profile;
    Run run{profile, {}};
    const Grouping parts =
        grouping_of_spans(window.study().length(), marked_spans(window.study().source()->sequence));
    const SpanMass mass = span_mass(*window.study().columns()[std::size_t(column)].computation->op,
                                    *window.study().exact()->computation->op, parts, parts, run);
    REQUIRE(spans.table().model()->rowCount() == int(parts.count()));
    REQUIRE(spans.table().model()->columnCount() == int(parts.count()));
    const auto& cell = mass(1, 0);
    const double difference = cell.approximate.value - cell.exact.value;
    spans.show_numbers("exact → column");
    CHECK(spans.cell(1, 0) ==
          in_words(cell.exact.value) + " → " + in_words(cell.approximate.value));
    spans.show_numbers("exact");
    CHECK(spans.cell(1, 0) == in_words(cell.exact.value));
    spans.show_numbers("column");
    CHECK(spans.cell(1, 0) == in_words(cell.approximate.value));
    spans.show_numbers("difference");
    CHECK(spans.cell(1, 0) == (difference > 0 ? "+" : "") + in_words(difference));
    const QString tip = spans.cell(1, 0, Qt::ToolTipRole).toString();
    for (const QString& words :
         {QString("mean over the queries"), QString::fromStdString(parts.names[1]),
          QString::fromStdString(parts.names[0]), QString(" queries, "),
          QString::fromStdString(window.study().title_of(column))})
      CHECK_MESSAGE(tip.contains(words), words.toStdString());
    CHECK(spans.header(Qt::Horizontal, 1).toStdString() == parts.names[1]);
    CHECK(spans.note().contains(QString::fromStdString(window.study().title_of(column))));
  }
  // The more mass, the more colour.
  spans.show_numbers("exact");
  const SpanMass& mass = window.study().spans().reading->mass;
  Index most = 0, least = 0;
  for (Index k = 0; k < mass.key_groups; ++k) {
    if (mass(0, k).exact.value > mass(0, most).exact.value) most = k;
    if (mass(0, k).exact.value < mass(0, least).exact.value) least = k;
  }
  const auto saturation = [&](Index k) {
    return spans.cell(0, int(k), Qt::BackgroundRole).value<QColor>().hsvSaturationF();
  };
  CHECK(saturation(most) > saturation(least));
  // Exact attention has nothing beside it.
  window.study().select_column(0);
  QTest::qWait(1);
  spans.wait();
  CHECK_FALSE(spans.part<QComboBox>("span_numbers").isEnabled());
  CHECK(spans.cell(1, 0) == in_words(mass(1, 0).exact.value));
}

TEST_CASE("a click on a cell or a header selects the tokens of its spans on the canvas") {
  Window window(small);
  SpansDock spans(window);
  window->change("spans", [](Session& s) {
    s.span_choice = SpanChoice::named;
    s.spans = {{"a", {0, 10}}, {"b", {30, 60}}};
  });
  QTest::qWait(1);
  spans.wait();
  emit spans.table().clicked(spans.table().model()->index(0, 1));
  CHECK(selected(window) == "0-10 30-60");
  emit spans.table().activated(spans.table().model()->index(1, 0));  // by Enter
  CHECK(selected(window) == "30-60 0-10");
  emit spans.table().verticalHeader()->sectionClicked(1);
  CHECK(selected(window) == "30-60 0-128");
  emit spans.table().horizontalHeader()->sectionClicked(0);
  CHECK(selected(window) == "0-128 0-10");
  CHECK(wait_until([&] { return window.study().model()->selection.has_value(); }));
  emit spans.table().horizontalHeader()->sectionClicked(2);
  CHECK(selected(window) == "0-128 0-10");
  CHECK(spans.note() ==
        "The tokens of “other tokens” are not adjacent: no rectangle selects them.");
  CHECK(spans.header(Qt::Horizontal, 0, Qt::ToolTipRole).contains("tokens 0–9"));
  CHECK(spans.header(Qt::Vertical, 2, Qt::ToolTipRole).contains("not adjacent"));
}

TEST_CASE("the selection is named, and a name is changed, moved, removed and undone") {
  Window window(small);
  SpansDock spans(window);
  const auto now = [&] { return window.study().session().spans; };
  CHECK(spans.offer() == QStringList{"Select a rectangle in a panel first", "Frames of a video…"});
  window.study().select({3, 10}, {40, 50});
  CHECK(spans.offer("Keys 40–49") ==
        QStringList{"Keys 40–49", "Queries 3–9", "Frames of a video…"});
  CHECK(window.study().session().span_choice == SpanChoice::named);
  CHECK(spans.part<QLineEdit>("span_tokens").text() == "40–49");
  spans.part<QLineEdit>("span_name").setText("answer");
  QTest::keyClick(&spans.part<QLineEdit>("span_name"), Qt::Key_Return);
  CHECK(now() == std::vector<Span>{{"answer", {40, 50}}});
  CHECK(spans.part<QLineEdit>("span_name").text().isEmpty());
  spans.add("question", " 3 - 9 ");
  spans.add("last", "127");
  CHECK(now() ==
        std::vector<Span>{{"question", {3, 10}}, {"answer", {40, 50}}, {"last", {127, 128}}});
  spans.wait();
  CHECK(spans.header(Qt::Horizontal, 1) == "answer");

  spans.named().item(1, 0)->setText("reply");
  CHECK(now()[1] == Span{"reply", {40, 50}});
  spans.named().item(1, 1)->setText("0-1");
  CHECK(now()[0] == Span{"reply", {0, 2}});
  CHECK(spans.named().item(0, 0)->text() == "reply");
  CHECK(spans.named().currentRow() == 0);
  QTest::qWait(1);
  spans.wait();
  CHECK(spans.header(Qt::Vertical, 0) == "reply");
  spans.part<QPushButton>("remove_span").click();
  CHECK(now() == std::vector<Span>{{"question", {3, 10}}, {"last", {127, 128}}});
  window.trigger("undo");
  window.trigger("undo");
  CHECK(now()[1] == Span{"reply", {40, 50}});
  CHECK(spans.named().item(1, 1)->text() == "40–49");
  window.study().select({5, 9}, {5, 9});
  CHECK(spans.offer() == QStringList{"Tokens 5–8", "Frames of a video…"});
}

TEST_CASE("what cannot be named is said in place and changes nothing") {
  Window window(small);
  SpansDock spans(window);
  spans.choose(SpanChoice::named);
  CHECK(wait_until([&] { return spans.note().startsWith("No span is named yet"); }));
  spans.add("a", "10–20");
  const std::vector<Span> before{{"a", {10, 21}}};
  const auto refused = [&](const QString& name, const QString& tokens, const QString& why) {
    spans.add(name, tokens);
    CHECK(spans.fault() == why);
    CHECK(window.study().session().spans == before);
    CHECK(spans.part<QLineEdit>("span_tokens").text() == tokens);  // to be corrected
  };
  refused("b", "20-30", "“a” and “b” overlap at token 20.");
  refused("b", "100-128", "“b” ends at token 128, but the last one is 127.");
  refused("b", "9-3", "“b” has no token: it ends before it begins.");
  refused("b", "some", "Tokens are written as first–last, such as 0–23.");
  refused("b", "", "Tokens are written as first–last, such as 0–23.");
  refused("  ", "1-2", "A span needs a name.");
  refused("a", "1-2", "Two spans have the name “a”.");
  spans.named().item(0, 1)->setText("10-200");
  CHECK(spans.fault() == "“a” ends at token 200, but the last one is 127.");
  CHECK(spans.named().item(0, 1)->text() == "10–20");
  spans.named().item(0, 0)->setText("");
  CHECK(spans.fault() == "A span needs a name.");
  CHECK(spans.named().item(0, 0)->text() == "a");
  spans.add("b", "1-2");
  CHECK(spans.fault().isEmpty());
  CHECK(window.study().session().spans.size() == 2);
}

TEST_CASE("a session keeps its named spans, and a head of other tokens has none of them") {
  const QTemporaryDir folder;
  Window window(a_text);
  window->change("spans", [](Session& s) {
    s.span_choice = SpanChoice::named;
    s.spans = {{"title", {0, 9}}};
  });
  const Session session = window.study().session();
  REQUIRE(window.save(folder.filePath("s.fovea.json")));
  window->open(small);
  REQUIRE(wait_until([&] { return window.study().length() == 128; }));
  CHECK(window.study().session().spans.empty());
  window->open(folder.filePath("s.fovea.json"));
  REQUIRE(wait_until([&] { return window.study().session().spans == session.spans; }));
  CHECK(window.study().session().span_choice == SpanChoice::named);
  SpansDock spans(window);
  QTest::qWait(1);
  spans.wait();
  CHECK(spans.header(Qt::Vertical, 0) == "title");
  // The same file again.
  window->open(a_text);
  QTest::qWait(1);
  REQUIRE(wait_until([&] { return !window.study().opening(); }));
  CHECK(window.study().session().spans == session.spans);
}

TEST_CASE("spans are measured only while they can be seen, and a sentence stands for a table") {
  Window window(a_text);
  auto* failure = window->docks().column->findChild<Fold*>("fold_failure");
  CHECK(wait_until([&] { return window.study().spans().reading != nullptr; }));  // in Failure
  failure->set_open(false);
  const auto before = window.study().spans().reading;
  window.study().select_column(0);
  REQUIRE(window.settle());
  QTest::qWait(300);
  CHECK(window.study().spans().reading == before);
  SpansDock spans(window);
  CHECK(wait_until([&] { return window.study().spans().reference; }));
  window->docks().show("Timing");
  window.study().select_column(1);
  REQUIRE(window.settle());
  QTest::qWait(300);
  CHECK(window.study().spans().reference);  // as it was left
  window->docks().show("Spans");
  CHECK(wait_until([&] { return !window.study().spans().reference; }));
  window->open("synthetic:hmatrix");
  CHECK(wait_until([&] { return spans.note().contains("only an attention matrix"); }));
  CHECK(spans.table().model()->rowCount() == 0);
}

TEST_CASE("a layout from before there was a Spans dock leaves it among the docks") {
  Window window(small);
  auto* dock = window->findChild<QDockWidget*>("Spans");
  dock->setObjectName("A dock of another version");
  const QByteArray layout = window->docks().layout();
  dock->setObjectName("Spans");
  window->docks().restore_layout(layout);
  QTest::qWait(50);
  CHECK_FALSE(dock->isFloating());
  window->docks().show("Spans");
  CHECK_FALSE(dock->isHidden());
  CHECK(window->dockWidgetArea(dock) == Qt::BottomDockWidgetArea);
}

TEST_CASE("the table of spans is copied as it is shown") {
  Window window(small);
  SpansDock spans(window);
  window->change("spans", [](Session& s) {
    s.span_choice = SpanChoice::named;
    s.spans = {{"a_b", {0, 64}}, {"c", {64, 128}}};
  });
  QTest::qWait(1);
  spans.wait();
  spans.show_numbers("exact");
  const auto copied = [&](const QString& as) {
    for (QAction* entry : spans.dock.findChildren<QAction*>())
      if (entry->text() == as) entry->trigger();
    return QApplication::clipboard()->text();
  };
  const QString first = spans.cell(0, 0).toString(), second = spans.cell(0, 1).toString();
  CHECK(copied("As &text")
            .startsWith("queries / keys\ta_b\tc\na_b\t" + first + "\t" + second + "\n"));
  CHECK(copied("As &Markdown").contains("| a\\_b | " + first + " | " + second + " |\n"));
  CHECK(copied("As &LaTeX").contains("a\\_b & " + first + " & " + second + " \\\\\n"));
  spans.show_numbers("exact → column");
  CHECK(copied("As &LaTeX").contains("$\\to$"));
}

TEST_CASE("the frames of a video are named at once, beside the named spans, and undone at once") {
  Window window(small);
  SpansDock spans(window);
  spans.add("text", "0–7");
  spans.choose(SpanChoice::parts);
  const auto answer = [&](int tokens) {
    QTimer::singleShot(50, &spans.dock, [tokens] {
      auto* question = qobject_cast<QInputDialog*>(QApplication::activeModalWidget());
      REQUIRE(question);
      question->setIntValue(tokens);
      question->accept();
    });
    spans.offer("Frames of a video…");
  };
  answer(50);  // 120 tokens after the text
  const auto& named = window.study().session().spans;
  REQUIRE(named.size() == 4);
  CHECK(named[1] == Span{"frame 1", {8, 58}});
  CHECK(named[3] == Span{"frame 3", {108, 128}});
  CHECK(spans.named().rowCount() == 4);
  window.trigger("undo");
  CHECK(window.study().session().spans.size() == 1);
}

TEST_CASE("the Spans dock fits a laptop's screen, and Tab reaches all of it") {
  for (const char* look : {"dark", "light"}) {
    Window window(a_text, {1366, 768}, look);
    SpansDock spans(window);
    spans.choose(SpanChoice::named);
    spans.add("title", "0–8");
    spans.add("title", "0–8");  // refused
    QTest::qWait(200);
    spans.wait();
    window.shoot(QString("spans_%1").arg(look));
    CHECK(window->width() <= 1366);
    CHECK(window->canvas().height() >= 300);  // with headers, a row is seen whole
    CHECK_FALSE(spans.fault().isEmpty());
    const QRect room = spans.dock.rect();
    std::set<const QWidget*> controls;
    for (auto* widget : spans.dock.findChildren<QWidget*>()) {
      if (!widget->isVisible() || widget->objectName().startsWith("qt_")) continue;
      CAPTURE(widget->metaObject()->className());
      CAPTURE(widget->objectName().toStdString());
      const QRect place(widget->mapTo(&spans.dock, QPoint()), widget->size());
      if (widget->parentWidget() == spans.dock.widget()) CHECK(room.contains(place));
      const auto* label = qobject_cast<const QLabel*>(widget);
      if (label && label->wordWrap())
        CHECK(label->heightForWidth(label->width()) <= label->height() + 1);
      else if (label)
        CHECK(label->sizeHint().width() <= label->width() + 1);
      if (widget->focusPolicy() & Qt::TabFocus && widget->isEnabled() && !widget->focusProxy())
        controls.insert(widget);
    }
    CHECK(controls.size() >= 9);
    take_focus(window);
    for (int step = 0; step < 200 && !controls.empty(); ++step) {
      QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
      const QWidget* reached = QApplication::focusWidget();
      if (controls.erase(reached) == 0) continue;
      const bool named = !reached->accessibleName().isEmpty() ||
                         qobject_cast<const QAbstractButton*>(reached) != nullptr;
      CHECK_MESSAGE(named, reached->objectName().toStdString());
    }
    for (const QWidget* missed : controls) FAIL_CHECK(missed->objectName().toStdString());
  }
}

}  // namespace fovea::test
