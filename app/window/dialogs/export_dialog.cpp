#include "window/dialogs/export_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QPushButton>
#include <QSpinBox>

#include "figure/preset.h"
#include "window/dialogs/questions.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

struct PageSize {
  QString name;
  FigureStyle style;
};

/// Two common widths, then the presets of venues.
std::vector<PageSize> page_sizes() {
  std::vector<PageSize> sizes{{"7 in, two columns", {.width = 7 * points_per_inch}},
                              {"3.5 in, one column", {.width = 3.5 * points_per_inch}}};
  for (const Preset& preset : presets()) {
    sizes.push_back({to_qt(preset.where) + QString(": %1 in").arg(preset.width, 0, 'g', 4), {}});
    put_into(sizes.back().style, preset);
  }
  return sizes;
}

}  // namespace

std::optional<Export> ask_export(QWidget& parent, const QString& title, const QString& proposed,
                                 bool has_session) {
  QDialog dialog(&parent);
  dialog.setObjectName("export_dialog");
  dialog.setWindowTitle(title);
  auto* form = new QFormLayout(&dialog);
  form->setSpacing(rhythm);
  form->setContentsMargins(16, 16, 16, 16);
  const std::vector<PageSize> sizes = page_sizes();
  auto* width = new QComboBox;
  for (const PageSize& size : sizes) width->addItem(size.name);
  width->insertSeparator(2);
  const auto chosen = [&] {
    return sizes[width->currentIndex() - (width->currentIndex() > 2)].style;
  };
  auto* font_size = new QDoubleSpinBox;
  font_size->setRange(3, 96);
  font_size->setDecimals(1);
  font_size->setSuffix(" pt");
  font_size->setToolTip("Of titles, as printed. With a venue the other letters are smaller.");
  const auto follow = [&] { font_size->setValue(chosen().font_size); };
  follow();
  QObject::connect(width, &QComboBox::currentIndexChanged, &dialog, follow);
  auto* resolution = new QSpinBox;
  resolution->setRange(72, 1200);
  resolution->setValue(300);
  resolution->setSuffix(" dpi");
  auto* look = new QComboBox;
  look->addItems({"light, for print", "dark, for slides"});
  auto* letters = new QCheckBox("(a), (b), … at the &panels");
  auto* session = new QCheckBox("Carry the &session");
  session->setToolTip(
      "The figure can then be opened to continue, also from a paper. Leave it out for anonymous "
      "review: the figure then names no source and no path.");
  session->setChecked(true);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  buttons->button(QDialogButtonBox::Ok)->setText("Choose a file…");
  QObject::connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
  QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  form->addRow("&Width", width);
  form->addRow("&Titles", font_size);
  form->addRow("&Resolution", resolution);
  form->addRow("&Look", look);
  form->addRow(letters);
  if (has_session) form->addRow(session);
  form->addRow(buttons);
  if (dialog.exec() != QDialog::Accepted) return {};

  const QString path =
      ask_new_file(parent, title, proposed,
                   {"PDF (*.pdf)", "SVG (*.svg)", "PNG (*.png)", "PGF for LaTeX (*.pgf)"});
  if (path.isEmpty()) return {};
  Export wanted{path, chosen(), session->isChecked()};
  wanted.style.font_size = font_size->value();
  wanted.style.dpi = resolution->value();
  wanted.style.dark = look->currentIndex() == 1;
  wanted.style.letters = letters->isChecked();
  return wanted;
}

}  // namespace fovea
