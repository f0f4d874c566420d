// The triage of heads for sparse prefill, in the window.
#include <doctest/doctest.h>

#include <QApplication>
#include <QClipboard>
#include <QDoubleSpinBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "report/triaged_heads.h"
#include "session/held_head.h"
#include "window/docks/triage_model.h"
#include "window/open_triage.h"

namespace fovea::test {
namespace {

const QString heads_to_triage = "synthetic:clusters?n=128&d=8&heads=3&seed=2";

TriagedHead triaged_apart(Window& window, Index head, const TriageRule& rule) {
  Profile profile;
  Run run{profile};
  HeadChoice choice = choice_of(window.study().session());
  choice.head = head;
  const Problem problem = problem_of(*window.study().source(), choice);
  const Backend& backend = window.study().backend();
  const Computation exact = prepare(problem, {.variant = &reference_variant()}, backend, run);
  return triage_head(*exact.op, rule, backend, run);
}

void check_rows(Window& window, const TriageRun& run, const TriageRule& rule) {
  REQUIRE(run.rows().size() == 3);
  CHECK(run.rule() == rule);
  for (Index head = 0; head < 3; ++head) {
    CAPTURE(head);
    const TriageRun::Row& row = run.rows()[std::size_t(head)];
    CHECK(row.head.head == head);
    REQUIRE(row.triage);
    const TriagedHead expected = triaged_apart(window, head, rule);
    CHECK(row.triage->pattern == expected.pattern);
    for (const HeadPattern pattern : sparse_patterns)
      CHECK(row.triage->of(pattern).recall.value == expected.of(pattern).recall.value);
  }
}

QJsonDocument written(const QString& path, const std::function<void()>& write) {
  write();
  REQUIRE(wait_until([&] { return QFile::exists(path); }));  // it is written as a whole
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadOnly));
  return QJsonDocument::fromJson(file.readAll());
}

}  // namespace

TEST_CASE("triage: all heads take a pattern, by the rule that is chosen") {
  Window window(heads_to_triage);
  REQUIRE(window.settle());
  ExploreDock& dock = open_triage(window);
  TriagePage& page = dock.triage();
  CHECK(dock.run().total() == 0);  // no setting was tried
  check_rows(window, page.run(), {});
  dock.findChild<QDoubleSpinBox*>("triage_budget")->setValue(0.4);
  dock.findChild<QDoubleSpinBox*>("triage_keep")->setValue(0.5);
  REQUIRE(wait_until([&] { return is_triaged(page.run()); }));
  check_rows(window, page.run(), {.budget = 0.4, .keep = 0.5});
  const QAbstractItemModel& table = *page.table().model();
  for (int row = 0; row < 3; ++row) {
    const TriagedHead& triage = *page.run().rows()[std::size_t(row)].triage;
    const auto text = [&](int column) { return table.index(row, column).data().toString(); };
    CHECK(text(TriageModel::pattern).toStdString() == pattern_name(triage.pattern));
    CHECK(text(TriageModel::sizes).toStdString() == to_text(triage.pattern, triage.sizes()));
    CHECK(text(TriageModel::first_recall + 1).toStdString() ==
          recall_text(triage.patterns[1].recall));
  }
  CHECK(dock.findChild<QLabel*>("triage_summary")->text().contains("128 tokens"));
  // Heads are triaged again under another mask of the session.
  window.trigger("causal");
  REQUIRE(
      wait_until([&] { return is_triaged(page.run()) && !page.run().rows()[0].triage->causal; }));
  check_rows(window, page.run(), {.budget = 0.4, .keep = 0.5});
  CHECK_FALSE(dock.findChild<QPushButton*>("triage_config")->isEnabled());
}

TEST_CASE("triage: it stops by its button and by Esc, and goes on where it was") {
  Window window(heads_to_triage);
  REQUIRE(window.settle());
  ExploreDock& dock = open_triage(window);
  TriagePage& page = dock.triage();
  auto* button = dock.findChild<QPushButton*>("triage_stop");
  CHECK(button->isHidden());  // all heads are done
  dock.findChild<QDoubleSpinBox*>("triage_budget")->setValue(0.2);
  CHECK(button->text() == "&Stop");
  button->click();
  CHECK_FALSE(page.run().running());
  CHECK(page.state().text.startsWith("Stopped: "));
  CHECK_FALSE(page.state().progress);
  const std::size_t done = page.run().done();
  window->change("pin", [](Session& s) { s.pinned_query = 7; });  // the page follows the session
  QTest::qWait(200);
  CHECK(page.run().done() == done);
  CHECK(button->text() == "&Continue");
  button->click();
  REQUIRE(wait_until([&] { return is_triaged(page.run()); }));
  check_rows(window, page.run(), {.budget = 0.2});
  // Esc ends all work.
  dock.findChild<QDoubleSpinBox*>("triage_budget")->setValue(0.3);
  window->cancel();
  REQUIRE(wait_until([&] { return !page.run().running(); }));
  if (!page.run().complete()) {
    button->click();
    REQUIRE(wait_until([&] { return is_triaged(page.run()); }));
  }
  check_rows(window, page.run(), {.budget = 0.3});
}

TEST_CASE("triage: trials pause behind the page, and go on when one turns back") {
  Window window("synthetic:clusters?n=512&d=32&heads=8&seed=1");
  REQUIRE(window.settle());
  window.trigger("heads");
  ExploreDock& dock = *window->exploration();
  REQUIRE(wait_until([&] { return dock.run().done() > 0; }));
  REQUIRE(dock.run().running());
  window.trigger("triage");
  CHECK_FALSE(dock.run().running());
  CHECK(window->focusWidget() == &dock.triage().table());
  REQUIRE(wait_until([&] { return is_triaged(dock.triage().run()); }));
  REQUIRE_FALSE(dock.run().complete());
  window.trigger("heads");
  CHECK(dock.run().running());
  // A person who stopped them finds them stopped.
  dock.findChild<QPushButton*>("explore_start")->click();
  window.trigger("triage");
  dock.choose(ExploreDock::Page::heads);
  CHECK_FALSE(dock.run().running());
}

TEST_CASE("triage: a double-click opens the head and shows its pattern as a column") {
  Window window(heads_to_triage);
  REQUIRE(window.settle());
  ExploreDock& dock = open_triage(window);
  QTableView& view = dock.triage().table();
  view.sortByColumn(TriageModel::head, Qt::DescendingOrder);
  const auto columns = window.study().session().columns.size();
  emit view.activated(view.model()->index(0, TriageModel::first_recall + 1));
  CHECK(window.study().session().head == 2);
  REQUIRE(window.study().session().columns.size() == columns + 1);
  const auto added =
      std::ranges::find(window.study().session().columns, "vertical_slash", &Column::variant);
  REQUIRE(added != window.study().session().columns.end());
  const PatternSizes sizes =
      dock.triage().run().rows()[2].triage->of(HeadPattern::vertical_slash).sizes;
  CHECK(added->values == variant_of(HeadPattern::vertical_slash, sizes, 128)->values);
}

TEST_CASE("triage: patterns are exported as a report, as a table and for MInference") {
  Window window(heads_to_triage);
  REQUIRE(window.settle());
  ExploreDock& dock = open_triage(window);
  const QTemporaryDir folder;
  const QString report = folder.filePath("triage.json"), config = folder.filePath("config.json");
  const QJsonObject found = written(report, [&] { dock.export_heads(report); }).object();
  CHECK(found["budget"].toDouble() == 0.1);
  CHECK(found["complete"].toBool());
  REQUIRE(found["heads"].toArray().size() == 3);
  REQUIRE(dock.findChild<QPushButton*>("triage_config")->isEnabled());
  const QJsonArray layers = written(config, [&] { dock.export_config(config); }).array();
  REQUIRE(layers.size() == 1);
  CHECK(layers[0].toObject().keys() == QStringList{"0", "1", "2"});
  dock.copy();
  CHECK(QApplication::clipboard()->text().startsWith("layer,layer_label,head,n,rows,pattern"));
  CHECK(QApplication::clipboard()->text().count('\n') == 4);
}

TEST_CASE("triage: heads without a pattern are left out, and that is said") {
  Window window("synthetic:hmatrix");
  REQUIRE(window.settle());
  window.trigger("triage");
  const ExploreDock& dock = *window->exploration();
  REQUIRE(wait_until([&] { return dock.is_seen(); }));
  CHECK(dock.triage().table().model()->rowCount() == 0);
  CHECK(dock.findChild<QLabel*>("triage_summary")
            ->text()
            .contains("1 head without queries and keys: sparse prefill is for"));
  CHECK_FALSE(dock.findChild<QPushButton*>("triage_config")->isEnabled());
  // A source with heads takes its place.
  window->open(heads_to_triage);
  REQUIRE(wait_until(
      [&] { return dock.triage().run().rows().size() == 3 && is_triaged(dock.triage().run()); }));
}

}  // namespace fovea::test
