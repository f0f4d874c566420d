#include "window/dialogs/sweep_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHideEvent>
#include <QLabel>
#include <QPushButton>
#include <QSettings>

#include "study/background.h"
#include "window/dialogs/export_dialog.h"
#include "window/dialogs/questions.h"
#include "window/dialogs/sweep_plot.h"
#include "window/status_line.h"
#include "window/widgets/form.h"
#include "window/widgets/measuring_footer.h"
#include "window/widgets/text.h"
#include "window/workspace.h"

namespace fovea {
namespace {

const QString stop_text = "&Stop measuring";

}  // namespace

SweepDialog::SweepDialog(Workspace& workspace)
    : QDialog(&workspace.window),
      workspace_(workspace),
      study_(workspace.study),
      run_(workspace.study) {
  setWindowTitle("Sweep over n");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(12, 12, 12, 12);
  column->setSpacing(rhythm);
  column->addLayout(make_controls());
  column->addWidget(plot_ = new SweepPlot, 1);
  column->addWidget(reading_ = new QLabel);
  reading_->setObjectName("sweep_reading");
  reading_->setAccessibleName("Chosen point");
  reading_->setWordWrap(true);
  reading_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  reading_->setMinimumHeight(2 * fontMetrics().lineSpacing());
  column->addWidget(footer_ = new MeasuringFooter(
                        "sweep_state",
                        {"&Copy as CSV", "Copies all points with their runs as a table",
                         [this] { copy_table(); }},
                        {"&Export…", "As PDF, SVG or PNG", [this] { export_by_dialog(); }}));
  footer_->add_close(*this, "Stops measuring and keeps what was measured");
  connect(&run_, &SweepRun::changed, this, &SweepDialog::refresh);
  for (const auto signal : {&Study::session_changed, &Study::columns_changed})
    connect(&study_, signal, this, [this] {
      if (isVisible()) refresh_state();
    });
  connect(plot_, &SweepPlot::chosen, this, &SweepDialog::read);
  resize(1080, 660);
  restoreGeometry(QSettings().value("sweep/geometry").toByteArray());
  plot_->setFocus();
}

SweepDialog::~SweepDialog() {
  run_.disconnect(this);  // ending it must not refresh this dialog
}

QLayout* SweepDialog::make_controls() {
  auto* row = make_inner<QHBoxLayout>();
  const auto add = [&](const QString& name, QComboBox* choice) {
    add_field(*row, name, choice);
    row->addSpacing(2 * rhythm);
  };
  add("&Time", time_ = new QComboBox);
  time_->addItem("plan, prepare and apply", int(SweepTime::total));
  time_->addItem("apply alone", int(SweepTime::apply));
  time_->setToolTip("Trees are built while planning; in their paper they are learned beforehand");
  add("&Up to n =", longest_ = new QComboBox);
  add("&Measure for at most", allowed_ = new QComboBox);
  for (const auto& [text, seconds] :
       {std::pair{"10 s", 10}, {"1 min", 60}, {"5 min", 300}, {"30 min", 1800}})
    allowed_->addItem(text, seconds);
  allowed_->setCurrentIndex(
      std::max(0, allowed_->findData(QSettings().value("sweep/seconds", 60).toInt())));
  row->addStretch(1);
  row->addWidget(measure_ = new QPushButton(stop_text));  // the longer of its two texts
  measure_->setObjectName("sweep_measure");
  measure_->setMinimumWidth(measure_->sizeHint().width());
  measure_->setAutoDefault(false);
  connect(time_, &QComboBox::currentIndexChanged, this, &SweepDialog::refresh);
  for (QComboBox* choice : {longest_, allowed_})
    connect(choice, &QComboBox::activated, this, &SweepDialog::refresh_state);
  connect(measure_, &QPushButton::clicked, this, [this] {
    if (run_.running())
      run_.stop();
    else
      measure();
  });
  return row;
}

void SweepDialog::open_dialog() {
  show();
  raise();
  activateWindow();
  refresh_lengths();
  if (!run_.running() && (!run_.complete() || run_.stale())) measure();
  refresh();
}

void SweepDialog::hideEvent(QHideEvent* event) {
  if (!event->spontaneous()) run_.stop();  // not only minimised by the desktop
  QSettings().setValue("sweep/geometry", saveGeometry());
  QDialog::hideEvent(event);
}

SweepLimits SweepDialog::limits() const {
  SweepLimits limits;
  limits.longest = longest_->currentText().toLongLong();
  limits.seconds = allowed_->currentData().toDouble();
  return limits;
}

void SweepDialog::measure() {
  if (!run_.can_start()) return refresh();
  measured_ = limits();
  QSettings().setValue("sweep/seconds", allowed_->currentData());
  plot_->choose(std::nullopt);
  footer_->set_outcome({});
  unnamed_ = provenance_of(study_, false);
  run_.start(measured_, provenance_of(study_));
  refresh();
}

// Offers the lengths of the open head. The choice stays if the lengths stay; otherwise the whole
// length is chosen.
void SweepDialog::refresh_lengths() {
  QStringList lengths, shown;
  if (const auto problem = study_.problem(); problem && problem->lengths().equal())
    for (const Index n : sweep_lengths(problem->n())) lengths << QString::number(n);
  for (int i = 0; i < longest_->count(); ++i) shown << longest_->itemText(i);
  longest_->setEnabled(!lengths.isEmpty());
  if (lengths == shown) return;
  longest_->clear();
  longest_->addItems(lengths);
  longest_->setCurrentIndex(longest_->count() - 1);
}

QString SweepDialog::message() const {
  if (!study_.source()) return "Nothing is open: open a head to measure it";
  if (study_.shows_matrix())
    return "This source holds only an attention matrix: without Q, K and V there is nothing to "
           "measure";
  if (!study_.lengths().equal())
    return "A sweep over n takes the first tokens of a sequence: this head has " +
           to_qt(study_.lengths().text());
  if (run_.waiting()) return run_.waiting_text();
  return run_.running() ? "Measuring…" : "Not measured";
}

QString SweepDialog::state() const {
  const SweepRun::Status& status = run_.status();
  if (run_.running()) {
    QString text = run_.waiting() ? run_.waiting_text() : ("Measuring " + status.doing).trimmed();
    if (status.seconds_left > 1) text += QString(", %1 s left").arg(status.seconds_left, 0, 'f', 0);
    return text;
  }
  if (run_.sweep().series.empty()) return {};
  if (run_.stale())
    return "The head or the columns have changed since: " +
           (run_.can_start() ? "measure again" : message());
  if (!(limits() == measured_)) return "Other limits have been chosen since: measure again";
  if (!run_.complete()) return "Stopped; what was measured is kept";
  if (run_.left_out() == 0) return run_.provenance();
  return run_.provenance() +
         QString(" · columns left out because they hold a head: %1").arg(run_.left_out());
}

bool SweepDialog::any_point() const {
  return !run_.sweep().series.empty() && !run_.sweep().series.front().points.empty();
}

void SweepDialog::refresh() {
  plot_->show_sweep(run_.sweep(), SweepTime(time_->currentData().toInt()), message());
  refresh_state();
  read(plot_->figure().panels.chosen);
}

// Refreshes everything but the plots: laying them out at every move of the pointer over the canvas
// takes too long.
void SweepDialog::refresh_state() {
  refresh_lengths();
  measure_->setText(run_.running() ? stop_text : "Measure a&gain");
  measure_->setEnabled(run_.running() || run_.can_start());
  footer_->show_state(
      {.text = state(),
       .tip = run_.provenance(),
       .warns = !run_.running() && run_.stale(),
       .progress = run_.running() ? std::optional(run_.status().fraction) : std::nullopt,
       .can_export = any_point()});
}

QString SweepDialog::message_text() const {
  return footer_->text() + "\n" + reading_->text();
}

void SweepDialog::read(std::optional<SweepSpot> spot) {
  const QString text = spot          ? sweep_reading(plot_->figure().panels.sweep, *spot)
                       : any_point() ? "Point at a measurement, or choose one with the arrow keys."
                                     : "";
  reading_->setText(text);
}

void SweepDialog::copy_table() {
  QApplication::clipboard()->setText(to_qt(to_csv(run_.sweep())));
}

void SweepDialog::export_by_dialog() {
  const auto figure = [this](const FigureStyle& style, bool carries_session) {
    return figure_of(figure_for(style, carries_session));
  };
  if (const auto wanted =
          ask_export(*this, {"Export the sweep", in_export_directory("sweep.pdf"), figure, false}))
    export_to(wanted->path, wanted->style, wanted->carries_session);
}

SweepFigure SweepDialog::figure_for(const FigureStyle& style, bool carries_session) const {
  SweepFigure figure = plot_->figure_for(style);
  figure.page.title = "Time, memory and error against n";
  figure.page.footer = (carries_session ? run_.provenance() : unnamed_).toStdString();
  return figure;
}

void SweepDialog::export_to(const QString& path, const FigureStyle& style, bool carries_session) {
  remember_export(path);
  SweepFigure figure = figure_for(style, carries_session);
  if (carries_session) figure.page.recipe.session = workspace_.session_text();
  footer_->write(*workspace_.background, path,
                 [path = path.toStdString(), figure] { write_figure(path, figure_of(figure)); });
}

}  // namespace fovea

#include "moc_sweep_dialog.cpp"
