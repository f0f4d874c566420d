#include "window/widgets/readings.h"

#include "window/widgets/form.h"

namespace fovea {

Readings::Readings(const QString& name) : grid_(make_inner<QGridLayout>(this)) {
  setAccessibleName(name);
  grid_->setVerticalSpacing(rhythm / 2);
  grid_->setColumnStretch(1, 1);
}

void Readings::set_rows(const std::vector<Reading>& rows) {
  while (labels_.size() < rows.size()) {
    const int at = int(labels_.size());
    auto* label = make_note();
    auto* value = new QLabel;
    label->setWordWrap(false);
    value->setAlignment(Qt::AlignRight | Qt::AlignTop);
    value->setWordWrap(true);
    make_selectable(*value);
    connect(label, &QLabel::linkActivated, this, &Readings::link_activated);
    grid_->addWidget(label, at, 0, Qt::AlignTop);
    grid_->addWidget(value, at, 1);
    labels_.emplace_back(label, value);
  }
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const auto& [label, value] = labels_[i];
    const bool used = i < rows.size();
    label->setVisible(used);
    value->setVisible(used);
    if (!used) continue;
    const bool links = !rows[i].link.isEmpty();
    label->setTextFormat(links ? Qt::RichText : Qt::PlainText);
    // Not by Tab: there may be a dozen, and Ctrl+G goes to any pair.
    label->setTextInteractionFlags(links ? Qt::LinksAccessibleByMouse : Qt::NoTextInteraction);
    label->setText(links ? QString("<a href=\"%1\" style=\"text-decoration: none\">%2</a>")
                               .arg(rows[i].link, rows[i].label.toHtmlEscaped())
                         : rows[i].label);
    value->setText(rows[i].value);
    label->setToolTip(rows[i].tip);
    value->setToolTip(rows[i].tip);
    value->setAccessibleName(rows[i].label);
  }
}

}  // namespace fovea
