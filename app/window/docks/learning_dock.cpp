#include <QFileDialog>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

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
  explicit LearningPlot(LearningRun& run)
      : FigureWidget("Error, pairs and leaves over the steps of learning"), run_(run) {
    setObjectName("learning_plot");
    connect(&run, &LearningRun::changed, this, &LearningPlot::lay_out);
  }
  QSize sizeHint() const override { return {900, 190}; }
  QSize minimumSizeHint() const override { return {360, 96}; }

 protected:
  Figure shown_figure() const override { return figure_; }
  void lay_out() override {
    put_screen_into(figure_.style);
    const LearningRecord& record = run_.record();
    if (record.curve.empty())
      figure_.rows = {{{.title = {},
                        .subtitle = {},
                        .caption = {},
                        .body = Message{"Select a column of Treeformer and press “Learn the tree” "
                                        "in its form."}}}};
    else
      figure_.rows = {make_panels(record)};
    figure_.title = record.curve.empty() ? "" : run_.title();
    update();
  }

 private:
  LearningRun& run_;
  Figure figure_;
};

/// "error 0.402 (median tree 0.801, 12.1 % of exact's cost)".
QString tried_text(const TriedTree& tree, const TriedTree& median) {
  return QString("error %1 (median tree %2, %3 of exact's cost)")
      .arg(number_text(tree.error), number_text(median.error), to_qt(format_percent(tree.cost)));
}

/// Chooses on which other source a learned tree is tried, and says what came of it.
class ValidationLine : public QWidget {
 public:
  ValidationLine(Study& study, LearningRun& learning, ValidationRun& run) : run_(run) {
    auto* line = make_inner<QHBoxLayout>(this);
    line->addWidget(choose_ = new QPushButton("Validate on…"));
    choose_->setObjectName("validate");
    choose_->setToolTip(
        "Try the learned tree, and each that is learned from now on, on the same head of another "
        "file from which it is not learned. A text or an image is read by the opened model.");
    line->addWidget(stop_ = new QPushButton("Stop"));
    stop_->setObjectName("stop_validation");
    stop_->setToolTip(
        "Try no further tree on that file. What was found stays, and learning goes on.");
    line->addWidget(text_ = make_note(), 1);
    text_->setObjectName("validation_text");
    make_selectable(*text_);
    connect(choose_, &QPushButton::clicked, this, &ValidationLine::ask);
    connect(stop_, &QPushButton::clicked, &run_, &ValidationRun::stop);
    connect(&run_, &ValidationRun::changed, this, &ValidationLine::refresh);
    connect(&learning, &LearningRun::changed, this, &ValidationLine::refresh);
    connect(&study, &Study::columns_changed, this, &ValidationLine::refresh);
    refresh();
  }

 private:
  void ask() {
    QStringList patterns;
    for (const std::string& pattern : file_patterns()) patterns << to_qt(pattern);
    const QString file = QFileDialog::getOpenFileName(this, "Validate on", in_last_directory({}),
                                                      patterns.join(";;"));
    if (!file.isEmpty() && run_.can_start()) run_.start(file.toStdString());
  }

  void refresh() {
    choose_->setEnabled(run_.can_start());
    stop_->setVisible(run_.active());
    text_->setText(text());
  }

  QString text() const {
    if (!run_.error().empty()) return to_qt(run_.error());
    const auto& found = run_.found();
    if (!found) return run_.active() ? "Trying the tree…" : QString();
    return QString("Tree of step %1: on its own head %2; on %3 %4.")
        .arg(QString::number(found->step), tried_text(found->own, found->own_median),
             to_qt(printable(found->source)), tried_text(found->other, found->other_median));
  }

  ValidationRun& run_;
  QPushButton *choose_, *stop_;
  QLabel* text_;
};

}  // namespace

QWidget* make_learning_dock(Study& study, LearningRun& learning, ValidationRun& validation) {
  auto* dock = new QWidget;
  auto* column = make_inner<QVBoxLayout>(dock);
  auto* line = new ValidationLine(study, learning, validation);
  line->setContentsMargins(rhythm, rhythm, rhythm, 0);
  column->addWidget(line);
  column->addWidget(new LearningPlot(learning), 1);
  return dock;
}

}  // namespace fovea
