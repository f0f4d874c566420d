#include "window/widgets/info_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "window/widgets/form.h"

namespace fovea {

InfoBar::InfoBar(QWidget* parent) : QFrame(parent), label_(new QLabel), remedy_(new QPushButton) {
  setObjectName("info_bar");
  setAccessibleName("Message");
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, rhythm / 2, rhythm, rhythm / 2);
  label_->setWordWrap(true);
  label_->setTextFormat(Qt::PlainText);
  make_selectable(*label_);
  row->addWidget(label_, 1);
  row->addWidget(remedy_);
  remedy_->setObjectName("remedy");
  connect(remedy_, &QPushButton::clicked, this, [this] { apply_(); });
  QToolButton* close = make_sign_button("✕", "Dismiss the message", "Dismiss");
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

#include "moc_info_bar.cpp"
