#include "window/docks/variant_choice.h"

#include <QCheckBox>
#include <QComboBox>
#include <QMenu>
#include <QSettings>
#include <QWidgetAction>
#include <algorithm>
#include <memory>
#include <utility>

#include "sweep/explorer.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

/// Tab goes through its fields, although the menu that it is in has another use for Tab.
class CheckList : public QWidget {
 protected:
  bool focusNextPrevChild(bool next) override {
    QList<QWidget*> stops = findChildren<QWidget*>();
    stops.removeIf([](const QWidget* child) {
      return !(child->focusPolicy() & Qt::TabFocus) || !child->isEnabled() || !child->isVisible();
    });
    if (stops.isEmpty()) return false;
    const auto at = stops.indexOf(focusWidget());
    stops[(at + (next ? 1 : stops.size() - 1)) % stops.size()]->setFocus(
        next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
    return true;
  }
};

const QString left_out_setting = "explore/left_out", steps_setting = "explore/learned_steps";

}  // namespace

VariantChoice::VariantChoice() {
  setObjectName("explore_variants");
  setPopupMode(QToolButton::InstantPopup);
  setToolTip("What is tried: a check list");
  auto* menu = new QMenu(this);
  auto* list = new QWidgetAction(menu);
  list->setText("What is tried");
  list->setDefaultWidget(make_list());
  menu->addAction(list);
  setMenu(menu);
  restore();
  const auto before = std::make_shared<std::pair<std::vector<const Variant*>, Index>>();
  connect(menu, &QMenu::aboutToShow, this, [this, before] {
    *before = {left_out(), learned_steps()};
    // The menu takes the focus when it is shown.
    QMetaObject::invokeMethod(
        boxes_.front().second, [this] { boxes_.front().second->setFocus(); }, Qt::QueuedConnection);
  });
  connect(menu, &QMenu::aboutToHide, this, [this, before] {
    if (*before == std::pair(left_out(), learned_steps())) return;
    keep();
    emit changed();
  });
}

QWidget* VariantChoice::make_list() {
  auto* list = new CheckList;
  auto* grid = new QGridLayout(list);
  grid->setContentsMargins(12, rhythm, 12, rhythm);
  grid->setHorizontalSpacing(2 * rhythm);
  std::size_t tallest = 0;
  for (const GroupKind& kind : groups())
    tallest = std::max(tallest, variants_of(kind.group).size());
  // Small groups stand one below the other.
  int column = 0, row = 0, rows = 0;
  for (const GroupKind& kind : groups()) {
    const auto its = variants_of(kind.group);
    if (row > 0 && std::size_t(row) + its.size() > tallest) {
      row = 0;
      ++column;
    }
    grid->addWidget(make_heading(kind.title), row++, column);
    for (const Variant* variant : its) {
      if (variant->reference) continue;  // is what all others are compared with
      auto* box = new QCheckBox(escaped(to_qt(variant->label)));
      box->setObjectName("try_" + to_qt(variant->id));
      box->setToolTip(plain_tip(to_qt(variant->summary)));
      boxes_.emplace_back(variant, box);
      grid->addWidget(box, row++, column);
      connect(box, &QCheckBox::toggled, this, &VariantChoice::show_count);
    }
    rows = std::max(rows, row);
  }
  ++column;
  auto* learned_row = make_inner<QHBoxLayout>();
  learned_row->addWidget(learned_ = new QCheckBox("&Learned trees, slower"));
  learned_->setObjectName("try_learned");
  learned_->setToolTip(
      "Each setting of Treeformer also with a tree that is learned for the head, which takes a "
      "second or more each and comes last. Learned trees on the canvas are always tried.");
  learned_row->addWidget(steps_ = new QComboBox);
  steps_->setObjectName("explore_learned");
  steps_->setAccessibleName("Steps of learning");
  for (const int steps : {int(standard_learned_steps), 300, 1000})
    steps_->addItem(QString("%1 steps").arg(steps), steps);
  learned_row->addStretch(1);
  grid->addLayout(learned_row, rows++, 0, 1, column);
  auto* all_row = make_inner<QHBoxLayout>();
  for (const auto& [text, checked] : {std::pair{"&All", true}, {"&None", false}}) {
    auto* button = new QToolButton;
    button->setText(text);
    all_row->addWidget(button);
    connect(button, &QToolButton::clicked, this, [this, checked = checked] { check_all(checked); });
  }
  all_row->addStretch(1);
  grid->addLayout(all_row, rows, 0, 1, column);
  connect(learned_, &QCheckBox::toggled, this, [this](bool on) {
    steps_->setEnabled(on);
    show_count();
  });
  return list;
}

std::vector<const Variant*> VariantChoice::left_out() const {
  std::vector<const Variant*> out;
  for (const auto& [variant, box] : boxes_)
    if (!box->isChecked()) out.push_back(variant);
  return out;
}

Index VariantChoice::learned_steps() const {
  return learned_->isChecked() ? steps_->currentData().toInt() : 0;
}

void VariantChoice::check_all(bool checked) {
  for (const auto& [variant, box] : boxes_) box->setChecked(checked);
  learned_->setChecked(checked);
}

void VariantChoice::keep() {
  QStringList ids;
  for (const Variant* variant : left_out()) ids << to_qt(variant->id);
  QSettings settings;
  settings.setValue(left_out_setting, ids);
  settings.setValue(steps_setting, int(learned_steps()));
}

void VariantChoice::restore() {
  const QSettings settings;
  const QStringList ids = settings.value(left_out_setting).toStringList();
  for (const auto& [variant, box] : boxes_) box->setChecked(!ids.contains(to_qt(variant->id)));
  const int steps = settings.value(steps_setting, int(standard_learned_steps)).toInt();
  learned_->setChecked(steps > 0);
  steps_->setEnabled(steps > 0);
  steps_->setCurrentIndex(std::max(0, steps_->findData(steps)));
  show_count();
}

void VariantChoice::show_count() {
  const auto all = boxes_.size(), chosen = all - left_out().size();
  QString text =
      chosen == all ? QString("All variants") : QString("%1 of %2 variants").arg(chosen).arg(all);
  if (!learned_->isChecked()) text += ", no learned trees";
  setText(text + " ");
}

}  // namespace fovea

#include "moc_variant_choice.cpp"
