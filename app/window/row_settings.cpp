#include "window/row_settings.h"

#include <QComboBox>
#include <QFormLayout>
#include <QPushButton>

#include "views/views.h"
#include "window/widgets/form.h"
#include "window/widgets/popup.h"
#include "window/widgets/text.h"
#include "window/workspace.h"

namespace fovea {

RowSettings::RowSettings(Workspace& workspace, GeneralFields general)
    : QFrame(&workspace.window, Qt::Popup), workspace_(workspace), general_(std::move(general)) {
  setObjectName("row_settings");
  setAccessibleName("Settings of a row");
  make_inner<QVBoxLayout>(this)->setContentsMargins(12, 12, 12, 12);
}

void RowSettings::open_at(QPoint place, int row) {
  const auto& views = workspace_.study.session().views;
  if (row < 0 || row >= std::ssize(views)) return;
  rebuild(row);
  show_on_screen(*this, place);
  page_->findChild<QComboBox*>("row_view")->setFocus(Qt::PopupFocusReason);
}

void RowSettings::rebuild(int row) {
  delete std::exchange(page_, new QWidget);  // before the settings that its fields show
  layout()->addWidget(page_);
  const View view = workspace_.study.session().views[row];
  own_ = own_fields(view, workspace_.study, workspace_.editor);
  auto* column = make_inner<QVBoxLayout>(page_);
  auto* form = make_inner<QFormLayout>();
  form->setLabelAlignment(Qt::AlignLeft);
  column->addLayout(form);
  auto* choice = new QComboBox;
  choice->setObjectName("row_view");
  choice->setToolTip("Another view in this row");
  for (const View one : all_views()) {
    choice->addItem(to_qt(label_of(one)));
    if (one == view) choice->setCurrentIndex(choice->count() - 1);
  }
  connect(choice, &QComboBox::activated, this, [this, row](int i) {
    close();
    workspace_.editor.replace_view(row, all_views()[i]);
  });
  form->addRow("&Row", choice);
  SettingFieldList fields;
  if (view->has_norm) fields = {general_.norm, general_.floor};
  fields.insert(fields.end(), own_.begin(), own_.end());
  for (const auto& field : fields) {
    QWidget* widget = field->make_widget();
    form->addRow(field->words().name, widget);
    form->labelForField(widget)->setToolTip(field->words().tip);
  }
  auto* line = make_inner<QHBoxLayout>();
  add_buttons(*line, row);
  column->addLayout(line);
}

void RowSettings::add_buttons(QBoxLayout& line, int row) {
  const auto add = [&](const QString& text, bool possible, auto act) {
    auto* button = new QPushButton(text);
    button->setEnabled(possible);
    connect(button, &QPushButton::clicked, this, [this, act] {
      close();
      act();
    });
    line.addWidget(button);
  };
  SessionEditor& editor = workspace_.editor;
  const int rows = int(workspace_.study.session().views.size());
  add("Move &up", row > 0, [&editor, row] { editor.move_view(row, row - 1); });
  add("Move &down", row + 1 < rows, [&editor, row] { editor.move_view(row, row + 1); });
  add("Re&move row", rows > 1, [&editor, this, row] {
    const auto& views = workspace_.study.session().views;
    if (row < std::ssize(views)) editor.show_view(views[row], false);
  });
}

}  // namespace fovea

#include "moc_row_settings.cpp"
