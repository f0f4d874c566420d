#include <QFileDialog>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>

#include "input/open_source.h"
#include "study/learning_run.h"
#include "study/validation_run.h"
#include "window/docks/docks.h"
#include "window/files.h"
#include "window/widgets/figure_widget.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

class LearningPlot : public FigureWidget {
 public:
  LearningPlot(Study& study, LearningRun& run)
      : FigureWidget("Error, pairs and leaves over the steps of learning"),
        study_(study),
        run_(run) {
    setObjectName("learning_plot");
    connect(&run, &LearningRun::changed, this, &LearningPlot::lay_out);
    for (const auto signal : {&Study::session_changed, &Study::columns_changed})
      connect(&study, signal, this, [this] {
        if (run_.record().curve.empty() && what_to_do() != shown_words_) lay_out();
      });
  }
  QSize sizeHint() const override { return {900, 190}; }
  QSize minimumSizeHint() const override { return {320, 96}; }

 protected:
  Figure shown_figure() const override { return figure_; }
  void lay_out() override {
    put_screen_into(figure_.style);
    const LearningRecord& record = run_.record();
    shown_words_ = record.curve.empty() ? what_to_do() : "";
    setAccessibleDescription(to_qt(shown_words_));
    if (record.curve.empty())
      figure_.rows = {
          {{.title = {}, .subtitle = {}, .caption = {}, .body = Message{shown_words_}}}};
    else
      figure_.rows = {make_panels(record)};
    figure_.title = record.curve.empty() ? "" : run_.title();
    update();
  }

 private:
  std::string what_to_do() const {
    const auto& columns = study_.columns();
    const auto selected = std::size_t(study_.selected_column());
    const bool has_tree = selected < columns.size() && run_.can_learn(columns[selected]);
    if (has_tree && !columns[selected].tree_learned_on.empty())
      return "The tree of " + study_.title_of(int(selected)) + " was learned on " +
             columns[selected].tree_learned_on + ". Press “Learn again” below its parameters.";
    return (has_tree ? "Press" : "Select a column of Treeformer and press") +
           std::string(" “Learn the tree” below its parameters.");
  }

  Study& study_;
  LearningRun& run_;
  std::string shown_words_;
  Figure figure_;
};

/// Chooses on which other source a learned tree is tried, and shows what came of it.
class ValidationPanel : public QWidget {
 public:
  ValidationPanel(Study& study, LearningRun& learning, ValidationRun& run)
      : study_(study), run_(run) {
    setFixedWidth(360);
    auto* column = make_inner<QVBoxLayout>(this);
    auto* line = make_inner<QHBoxLayout>();
    line->addWidget(again_ = new QPushButton("Learn again"));
    again_->setObjectName("learn_again");
    again_->setToolTip("Learn the tree of the selected column for the head that it shows");
    connect(again_, &QPushButton::clicked, &learning, &LearningRun::learn);
    line->addWidget(choose_ = new QPushButton("Validate on…"));
    choose_->setObjectName("validate");
    choose_->setToolTip(
        "Try the learned tree, and each that is learned from now on, on the same head of another "
        "file from which it is not learned. A text or an image is read by the opened model.");
    line->addWidget(stop_ = new QPushButton("Stop"));
    stop_->setObjectName("stop_validation");
    stop_->setToolTip(
        "Try no further tree on that file. What was found stays, and learning goes on.");
    line->addStretch(1);
    column->addLayout(line);
    column->addWidget(note_ = make_note());
    note_->setObjectName("validation_note");
    make_selectable(*note_);
    column->addLayout(make_table());
    column->addStretch(1);
    connect(choose_, &QPushButton::clicked, this, &ValidationPanel::ask);
    connect(stop_, &QPushButton::clicked, &run_, &ValidationRun::stop);
    connect(&run_, &ValidationRun::changed, this, &ValidationPanel::refresh);
    connect(&learning, &LearningRun::changed, this, &ValidationPanel::refresh);
    connect(&study, &Study::columns_changed, this, &ValidationPanel::refresh);
    refresh();
  }

 private:
  QGridLayout* make_table() {
    auto* grid = make_inner<QGridLayout>();
    grid->setVerticalSpacing(2);
    for (int row = 0; row < 3; ++row)
      for (int at = 0; at < 4; ++at) {
        QLabel* cell = cells_[row][at] = at == 0 || row == 0 ? make_note() : new QLabel;
        cell->setTextFormat(Qt::PlainText);
        cell->setWordWrap(false);
        make_selectable(*cell);
        grid->addWidget(cell, row, at, at == 0 ? Qt::AlignLeft : Qt::AlignRight);
      }
    grid->setColumnStretch(0, 1);
    cells_[2][3]->setObjectName("validation_cost");
    cells_[2][1]->setObjectName("validation_error");
    return grid;
  }

  void ask() {
    QStringList patterns;
    for (const std::string& pattern : file_patterns()) patterns << to_qt(pattern);
    const QString file = QFileDialog::getOpenFileName(this, "Validate on", in_last_directory({}),
                                                      patterns.join(";;"));
    if (!file.isEmpty() && run_.can_start()) run_.start(file.toStdString());
  }

  void refresh() {
    const auto selected = std::size_t(study_.selected_column());
    again_->setVisible(selected < study_.columns().size() &&
                       !study_.columns()[selected].tree_learned_on.empty());
    choose_->setEnabled(run_.can_start());
    stop_->setVisible(run_.active() || !study_.session().validated_on.empty());
    note_->setText(note());
    note_->setVisible(!note_->text().isEmpty());
    const auto& found = run_.found();
    if (found) {
      fill(0, "error of output", {"tree", "median tree", "of exact's cost"});
      fill(1, "own head", numbers(found->own, found->own_median));
      fill(2, to_qt(printable(found->source)), numbers(found->other, found->other_median));
    }
    for (const auto& row : cells_)
      for (QLabel* cell : row) cell->setVisible(found.has_value());
  }

  QString note() const {
    if (!run_.error().empty()) return to_qt(run_.error());
    if (const auto& found = run_.found()) return QString("Tree of step %1").arg(found->step);
    if (run_.active()) return "Trying the tree…";
    return run_.can_start() ? QString() : "A learned tree can be tried on other texts.";
  }

  static QStringList numbers(const TriedTree& tree, const TriedTree& median) {
    return {number_text(tree.error), number_text(median.error), to_qt(format_percent(tree.cost))};
  }

  void fill(int row, const QString& name, const QStringList& texts) {
    QLabel* first = cells_[row][0];
    first->setText(first->fontMetrics().elidedText(name, Qt::ElideMiddle, 140));
    first->setToolTip(plain_tip(name));
    for (int at = 0; at < 3; ++at) cells_[row][at + 1]->setText(texts[at]);
  }

  Study& study_;
  ValidationRun& run_;
  QPushButton *again_, *choose_, *stop_;
  QLabel* note_;
  QLabel* cells_[3][4];  // headings, the own head, the other source
};

}  // namespace

QWidget* make_learning_dock(Study& study, LearningRun& learning, ValidationRun& validation) {
  auto* dock = new QWidget;
  dock->setObjectName("dock_page");
  auto* row = make_inner<QHBoxLayout>(dock);
  row->addWidget(new LearningPlot(study, learning), 1);
  row->addWidget(new ValidationPanel(study, learning, validation));
  row->setContentsMargins(12, 0, 12, 0);
  return dock;
}

}  // namespace fovea
