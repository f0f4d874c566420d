#include <QVBoxLayout>

#include "study/learning_run.h"
#include "window/docks/docks.h"
#include "window/widgets/figure_widget.h"
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

}  // namespace

QWidget* make_learning_dock(LearningRun& run) {
  return new LearningPlot(run);
}

}  // namespace fovea
