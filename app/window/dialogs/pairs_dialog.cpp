#include "window/dialogs/pairs_dialog.h"

#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QPushButton>
#include <QSpinBox>

#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

QSpinBox* make_side(Index value, const QString& name) {
  auto* side = new QSpinBox;
  side->setRange(1, 131072);
  side->setValue(int(value));
  side->setSuffix(" tokens");
  side->setObjectName(name);
  return side;
}

}  // namespace

std::optional<PairsChoice> ask_pairs_form(QWidget& parent, const QString& column, Lengths block) {
  QDialog dialog(&parent);
  dialog.setWindowTitle("Save the pairs of " + column);
  dialog.setObjectName("save_pairs_dialog");
  auto* form = new QFormLayout(&dialog);
  auto* kind = new QComboBox;
  kind->setObjectName("pairs_form");
  for (const SelectionFormKind& its : selection_forms()) {
    QString words = its.words;
    words[0] = words[0].toUpper();
    kind->addItem(words);
  }
  kind->setCurrentIndex(int(SelectionForm::blocks));
  auto *queries = make_side(block.queries, "pairs_queries"),
       *keys = make_side(block.keys, "pairs_keys");
  QLabel* meaning = make_note();
  form->addRow("&Form", kind);
  form->addRow("&Queries of a block", queries);
  form->addRow("&Keys of a block", keys);
  form->addRow(meaning);
  const auto chosen = [kind]() -> const SelectionFormKind& {
    return selection_forms()[kind->currentIndex()];
  };
  const auto show = [=] {
    queries->setEnabled(chosen().has_blocks);
    keys->setEnabled(chosen().has_blocks);
    meaning->setText(chosen().tensors);
  };
  QObject::connect(kind, &QComboBox::currentIndexChanged, &dialog, show);
  show();
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel);
  buttons->button(QDialogButtonBox::Save)->setText("&Save…");
  QObject::connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
  QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  form->addRow(buttons);
  if (dialog.exec() != QDialog::Accepted) return {};
  return PairsChoice{chosen().form, {queries->value(), keys->value()}};
}

}  // namespace fovea
