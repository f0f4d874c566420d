#include "gui/info_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include "gui/theme.h"

namespace fovea {

InfoBar::InfoBar(QWidget* parent) : QFrame(parent), label_(new QLabel(this)) {
  setObjectName("info_bar");
  setAccessibleName("Message");
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, rhythm / 2, rhythm, rhythm / 2);
  label_->setWordWrap(true);
  label_->setTextFormat(Qt::PlainText);
  label_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  row->addWidget(label_, 1);
  auto* close = new QToolButton(this);
  close->setText("✕");
  close->setToolTip("Dismiss");
  close->setAccessibleName("Dismiss the message");
  connect(close, &QToolButton::clicked, this, &QWidget::hide);
  row->addWidget(close);
  hide();
}

void InfoBar::say(const QString& message) {
  label_->setText(message);
  show();
}

QString InfoBar::message() const {
  return isHidden() ? QString() : label_->text();
}

}  // namespace fovea
