// A MeasuresPage shows what each head does: a table of all heads and their measures, and the heads
// as points by any two of these.
#pragma once

#include <QWidget>
#include <memory>
#include <utility>

#include "data/matrix.h"
#include "window/widgets/measuring_footer.h"

class QComboBox;
class QLabel;
class QTableView;

namespace fovea {

class HeadScatterPlot;
class MeasuresModel;
class SortedRows;
class Study;

class MeasuresPage : public QWidget {
  Q_OBJECT

 public:
  explicit MeasuresPage(Study& study);

  QTableView& table() { return *view_; }
  HeadScatterPlot& plot() { return *plot_; }
  /// All heads are measured, in the background, while it is on.
  void measure(bool on);
  /// How far it is.
  MeasuringFooter::State state() const;
  /// The heads that are measured, as files (report/measured_heads.h).
  std::string csv() const;
  std::string json() const;

 signals:
  void changed();
  void head_chosen(const std::pair<fovea::Index, fovea::Index>& head);  // layer, head

 private:
  QWidget* make_table();
  QWidget* make_plot();
  void refresh();
  void show_points();
  void read_point();
  void show_head(const std::pair<Index, Index>& head);

  Study& study_;
  std::shared_ptr<const void> measuring_;  // null: not wanted
  MeasuresModel* model_;
  SortedRows* sorted_;
  QTableView* view_;
  QComboBox *x_, *y_;
  HeadScatterPlot* plot_;
  QLabel* reading_;
};

}  // namespace fovea
