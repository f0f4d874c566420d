#include "window/widgets/fold.h"

#include <QSettings>
#include <QToolButton>
#include <algorithm>

#include "window/widgets/form.h"

namespace fovea {

Fold::Fold(const QString& id, const QString& title, QWidget* body, bool open_at_first)
    : title_(title), heading_(new QToolButton), body_(body) {
  setObjectName("fold_" + id);
  auto* column = make_inner<QVBoxLayout>(this);
  column->setSpacing(rhythm / 2);
  heading_->setProperty("style", "fold");
  heading_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  heading_->setCheckable(true);
  heading_->setFocusPolicy(Qt::TabFocus);
  heading_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);  // widens no page
  column->addWidget(heading_);
  column->addWidget(body_);
  const QString key = "folds/" + id;
  set_open(QSettings().value(key, open_at_first).toBool());
  show_state(is_open());
  show_title();
  connect(heading_, &QToolButton::toggled, this, [this, key](bool open) {
    QSettings().setValue(key, open);
    show_state(open);
    emit toggled(open);
  });
}

void Fold::set_title(const QString& title) {
  title_ = title;
  show_title();
}

/// As much of the title as there is room for beside the arrow.
void Fold::show_title() {
  constexpr int arrow = 32;
  heading_->ensurePolished();
  heading_->setText(
      heading_->fontMetrics().elidedText(title_, Qt::ElideRight, std::max(0, width() - arrow)));
  heading_->setToolTip(heading_->text() == title_ ? QString() : title_);
  heading_->setAccessibleName(title_);
}

void Fold::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  show_title();
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
