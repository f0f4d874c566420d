#include "window/widgets/fold.h"

#include <QSettings>
#include <QToolButton>

#include "window/widgets/form.h"

namespace fovea {

Fold::Fold(const QString& id, const QString& title, QWidget* body, bool open_at_first)
    : heading_(new QToolButton), body_(body) {
  setObjectName("fold_" + id);
  auto* column = make_inner<QVBoxLayout>(this);
  column->setSpacing(rhythm / 2);
  heading_->setProperty("style", "fold");
  heading_->setText(title);
  heading_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  heading_->setCheckable(true);
  heading_->setFocusPolicy(Qt::TabFocus);
  heading_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);  // widens no page
  column->addWidget(heading_);
  column->addWidget(body_);
  const QString key = "folds/" + id;
  set_open(QSettings().value(key, open_at_first).toBool());
  show_state(is_open());
  connect(heading_, &QToolButton::toggled, this, [this, key](bool open) {
    QSettings().setValue(key, open);
    show_state(open);
    emit toggled(open);
  });
}

void Fold::set_title(const QString& title) {
  heading_->setText(title);
  heading_->setToolTip(title);
}

void Fold::make_light() {
  set_style(*heading_, "light fold");
}

bool Fold::is_open() const {
  return heading_->isChecked();
}

void Fold::set_open(bool open) {
  heading_->setChecked(open);
}

void Fold::show_state(bool open) {
  heading_->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
  heading_->setAccessibleDescription(open ? "open" : "closed");
  body_->setVisible(open);
}

}  // namespace fovea

#include "moc_fold.cpp"
