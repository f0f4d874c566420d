// A MeasuresPage shows what each head does: a table of all heads and their measures, and the heads
// as points by any two of these.
#pragma once

#include <memory>

#include "window/docks/measuring_page.h"

class QComboBox;
class QLabel;

namespace fovea {

class HeadScatterPlot;
class MeasuresModel;
class SortedRows;
class Study;

class MeasuresPage : public MeasuringPage {
  Q_OBJECT

 public:
  explicit MeasuresPage(Study& study);

  QTableView& table() override { return *view_; }
  HeadScatterPlot& plot() { return *plot_; }
  void measure(bool on) override;
  MeasuringFooter::State state() const override;
  std::string csv() const override;
  std::string json() const override;
  std::pair<QString, QString> words_of_export() const override {
    return {"Export what each head does", "measures.json"};
  }

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
