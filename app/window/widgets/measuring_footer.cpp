#include "window/widgets/measuring_footer.h"

#include <QDialog>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>

#include "study/background.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {

MeasuringFooter::MeasuringFooter(const QString& name, const Button& copy, const Button& to_export) {
  auto* row = make_inner<QHBoxLayout>(this);
  row->addWidget(state_ = make_note(), 1);
  state_->setObjectName(name);
  row->addWidget(progress_ = new QProgressBar);
  progress_->setRange(0, 1000);
  progress_->setTextVisible(false);
  progress_->setFixedWidth(160);
  progress_->setAccessibleName("Progress");
  copy_ = add_button(copy);
  export_ = add_button(to_export);
}

QPushButton* MeasuringFooter::add_button(const Button& of) {
  auto* button = new QPushButton(of.text);
  button->setToolTip(of.tip);
  button->setAutoDefault(false);
  connect(button, &QPushButton::clicked, this, [run = of.run] { run(); });
  layout()->addWidget(button);
  return button;
}

void MeasuringFooter::add_close(QDialog& dialog, const QString& tip) {
  add_button({"C&lose", tip, [&dialog] { dialog.close(); }});
}

void MeasuringFooter::show_state(const State& state) {
  shown_ = state;
  refresh();
}

void MeasuringFooter::set_outcome(const QString& outcome) {
  outcome_ = outcome;
  refresh();
}

void MeasuringFooter::refresh() {
  QStringList lines{outcome_, shown_.text};
  lines.removeAll({});
  state_->setText(lines.join("  ·  "));  // one line: what is above keeps its place
  state_->setToolTip(shown_.tip);
  set_style(*state_, shown_.warns ? "warning" : "note");
  progress_->setVisible(shown_.progress.has_value());
  progress_->setValue(int(1000 * shown_.progress.value_or(0)));
  copy_->setEnabled(shown_.can_export);
  export_->setEnabled(shown_.can_export);
}

void MeasuringFooter::write(Background& background, const QString& path,
                            std::function<void()> work) {
  set_outcome("Writing " + path + "…");
  background.files.run(std::move(work), this, [this, path](const std::string& error) {
    set_outcome(error.empty() ? "Wrote " + path : to_qt(error));
  });
}

QString MeasuringFooter::text() const {
  return state_->text();
}

}  // namespace fovea

#include "moc_measuring_footer.cpp"
