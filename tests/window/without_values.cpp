// A head of which only queries and keys are known, in the window.
#include <doctest/doctest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QStatusBar>
#include <QTableView>
#include <QTableWidget>
#include <QTemporaryDir>

#include "data/source.h"
#include "data/synthetic.h"
#include "io/safetensors_writer.h"
#include "views/views.h"
#include "window/docks/explore_dock.h"
#include "window/docks/pareto_plot.h"
#include "window/harness.h"
#include "window/widgets/readings.h"

namespace fovea::test {
namespace {

/// 96 tokens; q and k alone.
QString file_without_values(const QTemporaryDir& folder) {
  const Source source = make_synthetic("synthetic:clusters?n=96&d=16&heads=2");
  std::vector<OutTensor> tensors;
  for (const auto& [name, tensor] :
       {std::pair{"q", &source.layers[0].q}, std::pair{"k", &source.layers[0].k}}) {
    std::vector<float> numbers;
    for (Index h = 0; h < tensor->heads; ++h) {
      const Matrix rows = tensor->read(h);
      numbers.insert(numbers.end(), rows.data(), rows.data() + rows.rows() * rows.cols());
    }
    tensors.push_back({name, {tensor->heads, tensor->rows, tensor->cols}, std::move(numbers)});
  }
  const QString path = folder.filePath("qk.safetensors");
  write_safetensors(path.toStdString(), tensors, {});
  return path;
}

struct OpenedWithoutValues {
  QTemporaryDir folder;
  Window window{file_without_values(folder)};
};

/// Everything that labels and tables of the window say.
QStringList all_words(Window& window) {
  QStringList words;
  for (const QLabel* label : window->findChildren<QLabel*>())
    if (label->isVisibleTo(&*window)) words << label->text();
  for (const QTableView* view : window->findChildren<QTableView*>()) {
    const QAbstractItemModel* model = view->model();
    for (int row = 0; row < model->rowCount(); ++row) {
      words << model->headerData(row, Qt::Vertical).toString();
      for (int column = 0; column < model->columnCount(); ++column)
        words << model->index(row, column).data().toString();
    }
  }
  return words;
}

void check_words(const QStringList& words) {
  for (const QString& text : words) {
    CAPTURE(text.toStdString());
    CHECK_FALSE(
        text.contains(QRegularExpression("\\bnan\\b", QRegularExpression::CaseInsensitiveOption)));
    CHECK_FALSE(text.contains("token error"));
    CHECK_FALSE(text.contains(QRegularExpression("[0-9] relative output error")));
    CHECK(text != "relative output error");
  }
}

}  // namespace

TEST_CASE("every view shows a head without values, and no number stands for its outputs") {
  OpenedWithoutValues opened;
  Window& window = opened.window;
  show(window, all_views(), {"exact", "h1d", "tf", "hyper", "kde"});
  window->change({}, [](Session& s) { s.pinned_query = 40; });
  REQUIRE(window.settle());
  const auto& model = *window.study().model();
  for (std::size_t c = 1; c < 4; ++c) {
    CAPTURE(model.column_subtitles[c]);
    CHECK(model.column_subtitles[c].find("relative attention error") != std::string::npos);
    CHECK(model.column_subtitles[c].find("output") == std::string::npos);
  }
  for (std::size_t r = 0; r < model.cells.size(); ++r)
    for (std::size_t c = 0; c < 4; ++c) {
      const CanvasCell& cell = model.cells[r][c];
      CAPTURE(label_of(model.views[r]));
      CHECK_FALSE(cell.failed);
      REQUIRE(cell.panel);
      const auto* message = std::get_if<Message>(&cell.panel->body);
      if (model.views[r] == find_view("output")) {
        REQUIRE(message);
        CHECK(message->text == "There are no outputs Z = P V: the file has no values v.");
      }
      if (const auto* table = std::get_if<FigureTable>(&cell.panel->body))
        for (const auto& [label, value] : table->rows) {
          CHECK(label.find("output") == std::string::npos);
          CHECK(value.find("nan") == std::string::npos);
        }
    }
  // Keys by the norms of values: this column alone says why there is nothing.
  CHECK(model.cells[0][4].status.find("the file has no values v") != std::string::npos);
  check_words(all_words(window));
  bool noted = false;
  for (const QString& text : all_words(window)) noted |= text.contains("There are no values v: ");
  CHECK(noted);
  window.shoot("without-values");
}

TEST_CASE("without values the worst query, shading and learning say what is missing") {
  OpenedWithoutValues opened;
  Window& window = opened.window;
  show(window, {find_view("heatmap")}, {"exact", "tf"});
  REQUIRE(window.settle());
  window.study().select_column(1);
  REQUIRE(wait_until([&] { return bool(window.study().columns()[1].metrics); }));
  window.trigger("worst");
  CHECK(window->statusBar()->currentMessage().contains("the file has no values v"));
  auto* shade = window->findChild<QComboBox*>("shade");
  shade->setCurrentIndex(1);
  CHECK(window->findChild<QLabel*>("query_note")->text() ==
        "Output errors are not known: the file has no values v");
  CHECK_FALSE(window->findChild<QPushButton*>("learn")->isEnabled());
  CHECK(window->findChild<QLabel*>("learning_progress")->text() ==
        "No tree can be learned: the file has no values v");
}

TEST_CASE(
    "without values settings are compared by the errors of weights, and heads are not ranked") {
  OpenedWithoutValues opened;
  Window& window = opened.window;
  window->findChild<QCheckBox*>("try_learned")->setChecked(false);
  window.trigger("explore");
  ExploreDock& dock = *window->exploration();
  REQUIRE(wait_until([&] { return dock.run().complete() && !dock.run().running(); }));
  CHECK_FALSE(dock.plot().spots().empty());
  CHECK(dock.plot().y().measure().id == "attention_tv");
  window.trigger("heads");
  CHECK(dock.findChild<QLabel*>("explore_sum")->text() ==
        "Heads are not compared by their output errors: the file has no values v");
  CHECK(dock.findChild<QTableView*>("explore_heads")->model()->rowCount() == 0);
  window->open(small);  // with values the error of outputs can be chosen again
  REQUIRE(wait_until([&] { return window.study().length() == 128 && window.study().settled(); }));
}

}  // namespace fovea::test
