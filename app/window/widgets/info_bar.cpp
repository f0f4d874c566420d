#include "window/widgets/info_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

#include "window/widgets/theme.h"

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
  row->addWidget(remedy_ = new QPushButton(this));
  remedy_->setObjectName("remedy");
  connect(remedy_, &QPushButton::clicked, this, [this] { apply_(); });
  auto* close = new QToolButton(this);
  close->setText("✕");
  close->setToolTip("Dismiss");
  close->setAccessibleName("Dismiss the message");
  connect(close, &QToolButton::clicked, this, &QWidget::hide);
  row->addWidget(close);
  hide();
}

void InfoBar::show_message(const QString& message) {
  label_->setText(message);
  remedy_->hide();
  show();
}

void InfoBar::offer(const QString& message, const QString& remedy, std::function<void()> apply) {
  show_message(message);
  apply_ = std::move(apply);
  remedy_->setText(remedy);
  remedy_->show();
}

QString InfoBar::message() const {
  return isHidden() ? QString() : label_->text();
}

}  // namespace fovea
