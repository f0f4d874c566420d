#include "window/docks/triage_page.h"

#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <algorithm>
#include <bit>

#include "data/number_text.h"
#include "data/text.h"
#include "report/triaged_heads.h"
#include "window/docks/triage_model.h"
#include "window/widgets/form.h"
#include "window/widgets/sorted_table.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

const QString stop_text = "&Stop", resume_text = "&Continue";

QDoubleSpinBox* make_share(const char* name, double value, const QString& tip) {
  auto* field = new QDoubleSpinBox;
  field->setObjectName(name);
  field->setToolTip(tip);
  field->setDecimals(3);
  field->setRange(0, 1);
  field->setSingleStep(0.05);
  field->setValue(value);
  field->setKeyboardTracking(false);
  return field;
}

std::vector<TriagedHeadRow> found_rows(const TriageRun& run) {
  std::vector<TriagedHeadRow> out;
  for (const TriageRun::Row& row : run.rows())
    if (row.triage)
      out.push_back({.layer = row.head.layer,
                     .head = row.head.head,
                     .layer_label = layer_label(*run.source(), row.head.layer),
                     .triage = *row.triage});
  return out;
}

Index failed_heads(const TriageRun& run) {
  return std::ranges::count_if(run.rows(),
                               [](const TriageRun::Row& row) { return !row.error.empty(); });
}

}  // namespace

TriagePage::TriagePage(Study& study) : study_(study), run_(study) {
  const TriageRule standard;
  auto* column = new QVBoxLayout(this);
  column->setSpacing(rhythm);
  auto* row = make_inner<QHBoxLayout>();
  add_field(*row, "&Pairs at most",
            budget_ = make_share("triage_budget", standard.budget,
                                 "The share of the admitted pairs that a pattern keeps at most"));
  add_field(*row, "Mass at &least",
            keep_ = make_share("triage_keep", standard.keep,
                               "The mass of exact attention that a pattern keeps at least. A head "
                               "in which no pattern does takes all pairs."));
  row->addStretch(1);
  row->addWidget(stop_ = new QPushButton(resume_text));  // the longer of its two texts
  stop_->setMinimumWidth(stop_->sizeHint().width());
  stop_->setObjectName("triage_stop");
  stop_->setAutoDefault(false);
  row->addWidget(config_ = new QPushButton("For &MInference…"));
  config_->setObjectName("triage_config");
  config_->setAutoDefault(false);
  column->addLayout(row);
  column->addWidget(summary_ = make_note());
  summary_->setObjectName("triage_summary");
  summary_->setWordWrap(true);
  model_ = new TriageModel(run_, this);
  sorted_ = new SortedRows(*model_, TriageModel::sort_role, this);
  column->addWidget(view_ = new QTableView, 1);
  view_->setObjectName("triage");
  view_->setAccessibleName("The pattern of sparse prefill of each head");
  show_rows(*view_, *sorted_);
  freeze_columns(*view_, TriageModel::named_columns);
  connect(&run_, &TriageRun::changed, this, &TriagePage::refresh);
  for (QDoubleSpinBox* field : {budget_, keep_})
    connect(field, &QDoubleSpinBox::valueChanged, this, &TriagePage::follow_study);
  for (const auto signal : {&Study::session_changed, &Study::columns_changed})
    connect(&study_, signal, this, &TriagePage::follow_study);
  connect(view_, &QTableView::activated, this, &TriagePage::choose);
  connect(config_, &QPushButton::clicked, this, &TriagePage::config_wanted);
  connect(stop_, &QPushButton::clicked, this, [this] {
    if (run_.running())
      run_.stop();
    else
      run_.resume();
  });
  refresh();
}

TriagePage::~TriagePage() {
  run_.disconnect(this);  // ending it must not refresh this page
  study_.disconnect(this);
}

TriageRule TriagePage::rule() const {
  return {.budget = budget_->value(), .keep = keep_->value()};
}

void TriagePage::measure(bool on) {
  on_ = on;
  if (!on) return run_.pause();
  follow_study();
  refresh();
}

void TriagePage::follow_study() {
  if (on_) run_.want(rule());
}

MeasuringFooter::State TriagePage::state() const {
  const std::size_t all = run_.rows().size(), done = run_.done();
  const Index failed = failed_heads(run_);
  const bool any = done > std::size_t(failed);
  if (all == 0) return {};
  const QString share = QString("%1 of %2 heads").arg(done).arg(all);
  if (run_.running())
    return {.text = run_.waiting() ? run_.waiting_text() : share,
            .progress = double(done) / double(all),
            .can_export = any};
  if (!run_.complete()) return {.text = "Stopped: " + share, .can_export = any};
  return {.text = failed == 0 ? to_qt(run_.computed_on())
                              : QString("%1 of %2 heads have no pattern: their tool tips say why")
                                    .arg(failed)
                                    .arg(all),
          .can_export = any};
}

std::string TriagePage::csv() const {
  return to_csv(found_rows(run_));
}

std::string TriagePage::json() const {
  Document document{{"source", run_.source()->path},
                    {"computed_on", run_.computed_on()},
                    {"complete", run_.complete()},
                    {"left_out", run_.left_out()}};
  document.update(to_json(found_rows(run_), run_.rule()));
  return text_of(document, 2) + "\n";
}

std::string TriagePage::config() const {
  return text_of(minference_config(found_rows(run_), *run_.source()).layers) + "\n";
}

QString TriagePage::why_no_config(const std::vector<TriagedHeadRow>& rows) const {
  if (run_.rows().empty() || !run_.complete()) return "Not all heads have a pattern yet";
  if (rows.empty()) return "No head has a pattern";
  const auto other =
      std::ranges::find_if(rows, [](const TriagedHeadRow& row) { return !row.triage.causal; });
  if (other == rows.end()) return {};
  return QString(
             "MInference runs causal heads, and %1, head %2 is not: choose Causal mask in the "
             "menu Compute if the model has one")
      .arg(to_qt(other->layer_label))
      .arg(other->head);
}

QString TriagePage::summary(const std::vector<TriagedHeadRow>& rows, bool for_minference) const {
  if (!study_.source()) return "Nothing is open: open heads to triage them.";
  if (run_.rows().empty())
    return run_.left_out().empty() ? QString()
                                   : to_qt(join(run_.left_out()) +
                                           ": sparse prefill is for softmax attention with "
                                           "queries and keys of one sequence.");
  if (rows.empty()) return {};
  QStringList parts{(run_.complete() ? "" : "So far: ") + to_qt(counts_text(rows))};
  for (const std::string& others : run_.left_out()) parts << to_qt(others + ": left out");
  if (for_minference)
    if (const auto note = note_of(minference_config(rows, *run_.source()), "the file");
        !note.empty())
      parts << to_qt(note);
  if (const std::string note = short_note(rows); !note.empty()) parts << to_qt(note);
  return parts.join("  ·  ");
}

void TriagePage::refresh() {
  model_->refresh();
  // Rows that come make columns wider: they are fitted at each power of two, and at the end.
  if (std::exchange(fits_complete_, run_.complete()) != run_.complete() ||
      std::has_single_bit(run_.done()))
    view_->resizeColumnsToContents();
  stop_->setText(run_.running() ? stop_text : resume_text);
  stop_->setVisible(!run_.complete());
  const std::vector<TriagedHeadRow> rows = found_rows(run_);
  const QString why = why_no_config(rows);
  summary_->setText(summary(rows, why.isEmpty()));
  config_->setEnabled(why.isEmpty());
  config_->setToolTip(why.isEmpty() ? "Write the patterns as the configuration that MInference "
                                      "reads (config_path)"
                                    : plain_tip(why));
  emit changed();
}

void TriagePage::choose(const QModelIndex& index) {
  const QModelIndex cell = sorted_->mapToSource(index);
  const ExploredHead& its = model_->row(cell.row()).head;
  const std::pair head{its.layer, its.head};
  if (const auto setting = model_->setting_at(cell))
    emit pattern_chosen(head, *setting);
  else
    emit head_chosen(head);
}

}  // namespace fovea

#include "moc_triage_page.cpp"
