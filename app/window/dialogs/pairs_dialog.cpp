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

QString words_with_initial(SelectionForm form) {
  QString words = to_qt(words_of(form));
  words[0] = words[0].toUpper();
  return words;
}

/// The tensors that the file has, and what they say.
QString meaning_of(SelectionForm form) {
  switch (form) {
    case SelectionForm::pairs:
      return "kept [1, n, n]: 1 for each pair that counts";
    case SelectionForm::blocks:
      return "kept [1, rows, columns]: 1 for each block with a pair that counts; block_size";
    case SelectionForm::flex:
      return "kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices; block_size";
    case SelectionForm::indices:
      return "indices [1, n, most]: the keys of each query, then -1";
    case SelectionForm::csr:
      return "indptr [n + 1], indices: the keys of all queries in a row";
  }
  return {};
}

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
  for (const SelectionForm its : all_selection_forms) kind->addItem(words_with_initial(its));
  kind->setCurrentIndex(int(SelectionForm::blocks));
  auto *queries = make_side(block.queries, "pairs_queries"),
       *keys = make_side(block.keys, "pairs_keys");
  QLabel* meaning = make_note();
  form->addRow("&Form", kind);
  form->addRow("&Queries of a block", queries);
  form->addRow("&Keys of a block", keys);
  form->addRow(meaning);
  const auto chosen = [kind] { return all_selection_forms[std::size_t(kind->currentIndex())]; };
  const auto show = [=] {
    queries->setEnabled(has_blocks(chosen()));
    keys->setEnabled(has_blocks(chosen()));
    meaning->setText(meaning_of(chosen()));
  };
  QObject::connect(kind, &QComboBox::currentIndexChanged, &dialog, show);
  show();
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel);
  buttons->button(QDialogButtonBox::Save)->setText("&Save…");
  QObject::connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
  QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  form->addRow(buttons);
  if (dialog.exec() != QDialog::Accepted) return {};
  return PairsChoice{chosen(), {queries->value(), keys->value()}};
}

}  // namespace fovea
