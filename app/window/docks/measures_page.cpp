#include "window/docks/measures_page.h"

#include <QComboBox>
#include <QLabel>
#include <QSplitter>
#include <QTableView>
#include <algorithm>
#include <cmath>

#include "report/measured_heads.h"
#include "window/docks/head_scatter_plot.h"
#include "window/docks/measures_model.h"
#include "window/widgets/form.h"
#include "window/widgets/sorted_table.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

void offer_measures(QComboBox& choice, const char* name, const char* chosen) {
  choice.setObjectName(name);
  for (const HeadMeasure& measure : head_measures()) {
    choice.addItem(to_qt(measure.label));
    choice.setItemData(choice.count() - 1, plain_tip(to_qt(measure.definition)), Qt::ToolTipRole);
  }
  choice.setCurrentIndex(int(*head_measure_with(chosen)));
}

}  // namespace

MeasuresPage::MeasuresPage(Study& study) : study_(study) {
  auto* column = make_inner<QVBoxLayout>(this);
  column->setContentsMargins(0, rhythm / 2, 0, 0);
  auto* both = new QSplitter;
  both->setChildrenCollapsible(false);
  both->addWidget(make_table());
  both->addWidget(make_plot());
  constexpr int table_width = 720, plot_width = 480;
  both->setSizes({table_width, plot_width});
  column->addWidget(both);
  connect(&study_, &Study::cards_changed, this, &MeasuresPage::refresh);
  connect(&study_, &Study::session_changed, this, &MeasuresPage::refresh);
}

QWidget* MeasuresPage::make_table() {
  model_ = new MeasuresModel(study_, this);
  sorted_ = new SortedRows(*model_, MeasuresModel::sort_role, this);
  view_ = new QTableView;
  view_->setObjectName("head_measures");
  view_->setAccessibleName("What each head does");
  show_rows(*view_, *sorted_);
  freeze_columns(*view_, MeasuresModel::first_measure);
  connect(view_, &QTableView::activated, this, [this](const QModelIndex& index) {
    emit head_chosen(model_->head_in(sorted_->mapToSource(index).row()));
  });
  return view_;
}

QWidget* MeasuresPage::make_plot() {
  auto* side = new QWidget;
  auto* column = make_inner<QVBoxLayout>(side);
  auto* row = make_inner<QHBoxLayout>();
  add_field(*row, "A&cross", x_ = new QComboBox, 0, 1);
  add_field(*row, "&Up", y_ = new QComboBox, 0, 1);
  offer_measures(*x_, "measure_across", "previous_token");
  offer_measures(*y_, "measure_up", "entropy");
  column->addLayout(row);
  column->addWidget(plot_ = new HeadScatterPlot, 1);
  column->addWidget(reading_ = make_note());
  reading_->setObjectName("measure_reading");
  reading_->setAccessibleName("Head under the pointer");
  reading_->setMinimumHeight(2 * fontMetrics().lineSpacing());
  reading_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  for (QComboBox* choice : {x_, y_})
    connect(choice, &QComboBox::currentIndexChanged, this, &MeasuresPage::show_points);
  connect(plot_, &HeadScatterPlot::head_chosen, this, &MeasuresPage::read_point);
  connect(plot_, &HeadScatterPlot::head_picked, this, [this](const auto& head) {
    show_head(head);
    emit head_chosen(head);
  });
  return side;
}

void MeasuresPage::measure(bool on) {
  if (on && !measuring_) measuring_ = study_.measure_heads();
  if (!on) measuring_.reset();
  refresh();
}

MeasuringFooter::State MeasuresPage::state() const {
  const int all = model_->rowCount(), failed = model_->failed(),
            measured = all - failed - model_->missing();
  if (measured == all)
    return {.text = "Exact attention of the opened input", .can_export = all > 0};
  if (measured + failed == all)
    return {.text = QString("%1 of %2 heads cannot be measured: their tool tips say why")
                        .arg(failed)
                        .arg(all),
            .can_export = measured > 0};
  return {.text = QString("%1 of %2 heads measured").arg(measured).arg(all),
          .progress = double(measured) / all,
          .can_export = measured > 0};
}

std::string MeasuresPage::csv() const {
  return to_csv(model_->measured_rows());
}

std::string MeasuresPage::json() const {
  Document document{{"source", study_.source()->path}};
  document.update(to_json(model_->measured_rows()));
  return text_of(document, 2) + "\n";
}

void MeasuresPage::refresh() {
  if (!measuring_) return;
  const int before = model_->rowCount(), missing = model_->missing();
  model_->refresh();
  if (model_->rowCount() != before || (missing > 0 && model_->missing() == 0))
    view_->resizeColumnsToContents();
  show_points();
  emit changed();
}

void MeasuresPage::show_points() {
  HeadScatter scatter{.x = std::size_t(x_->currentIndex()), .y = std::size_t(y_->currentIndex())};
  std::string why;
  for (int row = 0; row < model_->rowCount(); ++row) {
    const auto [layer, head] = model_->head_in(row);
    scatter.layers = std::max(scatter.layers, layer + 1);
    const MeasuredHead* measured = model_->measured(row);
    if (!measured) continue;
    const HeadValue &x = measured->values[scatter.x], &y = measured->values[scatter.y];
    if (std::isnan(x.estimate.value) || std::isnan(y.estimate.value))
      why = std::isnan(x.estimate.value) ? x.missing : y.missing;
    else
      scatter.points.push_back(
          {.layer = layer, .head = head, .x = x.estimate.value, .y = y.estimate.value});
  }
  scatter.message = !why.empty()              ? why
                    : model_->rowCount() == 0 ? "Nothing is open."
                                              : "No head is measured yet.";
  plot_->show_heads(std::move(scatter));
  plot_->mark({study_.session().layer, study_.session().head});
  read_point();
}

void MeasuresPage::read_point() {
  const auto chosen = plot_->chosen();
  if (!chosen)
    return reading_->setText(
        plot_->scatter().points.empty()
            ? ""
            : "Point at a head, or choose one with the arrow keys. A click or Enter opens it.");
  const HeadPoint& point = plot_->scatter().points[*chosen];
  const int row = model_->row_of({point.layer, point.head});
  const MeasuredHead* measured = row < 0 ? nullptr : model_->measured(row);
  const auto said = [&](std::size_t m, double value) {
    const HeadMeasure& measure = head_measures()[m];
    const Estimate estimate = measured ? measured->values[m].estimate : Estimate{value, 0};
    return to_qt(measure.label + " " + to_text(measure, estimate));
  };
  reading_->setText(QString("%1, head %2: %3  ·  %4")
                        .arg(to_qt(layer_label(*study_.source(), point.layer)))
                        .arg(point.head)
                        .arg(said(plot_->scatter().x, point.x), said(plot_->scatter().y, point.y)));
}

void MeasuresPage::show_head(const std::pair<Index, Index>& head) {
  const int row = model_->row_of(head);
  if (row < 0) return;
  const QModelIndex index = sorted_->mapFromSource(model_->index(row, 0));
  view_->selectRow(index.row());
  view_->scrollTo(index);
}

}  // namespace fovea

#include "moc_measures_page.cpp"
