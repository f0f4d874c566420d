#include "window/docks/answer_box.h"

#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <algorithm>

#include "evaluate/not_finite.h"
#include "figure/painter_ink.h"
#include "study/canvas_model.h"
#include "study/study.h"
#include "window/docks/reading_words.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"
#include "window/widgets/theme.h"

namespace fovea {

/// A bar whose length is a share of its room.
class ShareBar : public QWidget {
 public:
  explicit ShareBar(drawing::Rgba drawing::Style::*colour) : colour_(colour) { setFixedHeight(4); }
  void show_share(std::optional<double> share) {
    share_ = std::clamp(share.value_or(0), 0.0, 1.0);
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(qcolor(window_style().grid));
    painter.drawRoundedRect(rect(), 2, 2);
    if (!(share_ > 0)) return;
    painter.setBrush(qcolor(window_style().*colour_));
    painter.drawRoundedRect(QRectF(0, 0, std::max(2.0, width() * share_), height()), 2, 2);
  }

 private:
  drawing::Rgba drawing::Style::*colour_;
  double share_ = 0;
};

namespace {

QString mask_note(const Variant& variant, bool causal) {
  if (variant.mask == Mask::causal_in_paper && !causal)
    return "The paper has a causal mask; here there is none.";
  if (variant.mask == Mask::bidirectional_in_paper && causal)
    return "The paper has no causal mask; here there is one.";
  return {};
}

/// What to beware of where a column is used.
QStringList warnings_of(const Study& study, const ColumnState& state) {
  QStringList notes;
  const HeadState& head = study.head_of(state);
  const Variant& variant = find_variant(state.column.variant);
  if (state.diagnostics && !state.stale)
    for (const std::string& sentence : sentences_of(*state.diagnostics)) notes << to_qt(sentence);
  if (head.problem) notes << mask_note(variant, head.problem->is_causal());
  // A result that was read may have other weights, unless it has none.
  const auto is_softmax = [&] {
    if (!variant.imported || !state.computation) return false;
    const Plan& plan = state.computation->op->plan();
    return !is_read(plan) || !has_entries(plan);
  };
  const bool is_recurrence = variant.reference && head.problem && head.problem->recurrence;
  if (is_recurrence || (!variant.rows_sum_to_one && !is_softmax()))
    notes << "Rows of P need not sum to 1.";
  if (is_recurrence || (variant.signed_entries && !is_softmax()))
    notes << "Entries of P may be negative.";
  const auto has_other_tokens = [&] {
    const Sequence &its = sequence_of(*head.source, head.key.choice.layer),
                   &shown = study.sequence();
    return its.tokens != shown.tokens || its.position_names != shown.position_names ||
           its.grid != shown.grid;
  };
  if (head.source && head.source != study.source() && has_other_tokens())
    notes << "This head has other tokens: the axes show those of the opened source.";
  if (state.computation) {
    const Plan& plan = state.computation->op->plan();
    for (const auto& note : plan.notes) notes << to_qt(note);
    notes << to_qt(note_of_numbers(*state.computation));
    if (plan.fitted_to_all_tokens && state.computation->op->problem().is_causal())
      notes << QString("The %1 built from all tokens, also from those after a query.")
                   .arg(plan.groups.branching.empty() ? "groups are" : "tree is");
  }
  notes << to_qt(state.error);
  notes.removeAll({});
  notes.removeDuplicates();
  return notes;
}

/// With all its digits, zeros too.
QString digits_of(double number, int digits) {
  return to_qt(format_number(number, digits, Zeros::keep));
}

/// "(1.05 – 1.8)": with the digits that every table has.
QString interval_of(const SpeedUp& ratio) {
  const QString text = to_qt(to_text(ratio));
  return text.mid(text.indexOf('('));
}

}  // namespace

AnswerBox::AnswerBox(Study& study) : study_(study) {
  auto* column = make_inner<QVBoxLayout>(this);
  figures_ = new QWidget;
  auto* grid = make_inner<QGridLayout>(figures_);
  grid->setVerticalSpacing(2);
  grid->setHorizontalSpacing(12);
  column->addWidget(figures_);
  error_ = make_figure(0,
                       "The error that stands for all others: of the output, or of P if the head "
                       "has no values. An output of zeros has the error 1.");
  cost_ = make_figure(1, "Multiply-adds as a share of those of exact attention");
  time_ = make_figure(2, {});
  column->addWidget(note_ = make_note());
  column->addWidget(warnings_ = make_note());
  warnings_->setObjectName("column_warnings");
  warnings_->setProperty("style", "warning");
  for (QLabel* text : {note_, warnings_}) make_selectable(*text);
}

AnswerBox::Figure AnswerBox::make_figure(int place, const QString& tip) {
  auto* grid = static_cast<QGridLayout*>(figures_->layout());
  Figure figure{make_note(), make_note(), nullptr};
  figure.number->setProperty("style", "figure");
  figure.number->setWordWrap(false);
  make_selectable(*figure.number);
  const bool is_share = place < 2;
  if (is_share)
    figure.bar = new ShareBar(place == 0 ? &drawing::Style::approximate : &drawing::Style::accent);
  int row = 0;
  for (QWidget* part : std::initializer_list<QWidget*>{figure.number, figure.word}) {
    part->setToolTip(tip);
    grid->addWidget(part, row++, place, Qt::AlignTop);
  }
  if (figure.bar) grid->addWidget(figure.bar, row, place);
  grid->setColumnStretch(place, 1);
  return figure;
}

void AnswerBox::refresh() {
  const ColumnState* state = study_.selected();
  if (!state) return;
  show_figures(*state);
  show_words(*state);
}

void AnswerBox::show_figures(const ColumnState& state) {
  const HeadState& head = study_.head_of(state);
  const auto figures = study_.shows_matrix()
                           ? std::nullopt
                           : figures_of(state, head.problem && head.problem->is_causal(),
                                        head.problem ? head.problem->recurrence.get() : nullptr);
  figures_->setVisible(figures.has_value());
  if (!figures) return;
  error_.number->setText(figures->error ? digits_of(*figures->error, 3) : not_known);
  error_.word->setText(figures->error_name.empty() ? QString("error") : to_qt(figures->error_name));
  error_.bar->show_share(figures->error);
  cost_.number->setText(figures->cost ? to_qt(format_share(*figures->cost)) : not_known);
  cost_.word->setText("of exact's cost");
  cost_.bar->show_share(figures->cost);
  const auto* ratio = state.time && !state.stale && state.time->total_speed_up
                          ? &*state.time->total_speed_up
                          : nullptr;
  time_.number->setText(!ratio               ? not_known
                        : ratio->equal()     ? QString("≈ 1 ×")
                        : ratio->undecided() ? QString("? ×")
                                             : to_qt(short_text(*ratio)));
  const bool was_read = state.computation && is_read(state.computation->op->plan());
  time_.word->setText(was_read             ? QString("as fast: not computed here")
                      : !ratio             ? QString("as fast: not measured, press F5")
                      : ratio->undecided() ? "as fast: " + to_qt(to_text(*ratio))
                      : ratio->interval    ? "as fast " + interval_of(*ratio)
                                           : QString("as fast, few runs"));
  QString tip = QString("How many times faster than exact attention: its time over this one's") +
                speed_up_words +
                ". No difference: the interval holds 1 and lies within a tenth of it.";
  if (ratio) tip += "\nHere: " + to_qt(basis_text(*ratio)) + ".";
  for (QLabel* part : {time_.number, time_.word}) part->setToolTip(tip);
}

void AnswerBox::show_words(const ColumnState& state) {
  QString note;
  if (study_.shows_matrix())
    note = "Shown as it was given. Variants need Q, K and V.";
  else if (is_reference(state.column.variant))
    note = "This is the reference.";
  else if (state.stale)
    note = "The new parameters are being computed.";
  else if (!state.metrics)
    note = "Not compared yet.";
  else if (state.metrics->sampled())
    note = QString("What concerns P is estimated from %1 of %2 rows, ± standard error.")
               .arg(state.metrics->rows)
               .arg(state.metrics->queries);
  note_->setText(note);
  note_->setVisible(!note.isEmpty());
  const QStringList warnings = warnings_of(study_, state);
  warnings_->setText(warnings.join("\n"));
  warnings_->setVisible(!warnings.isEmpty());
}

}  // namespace fovea
