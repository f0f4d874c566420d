#include "window/parameter_popup.h"

#include "window/docks/parameter_form.h"
#include "window/widgets/form.h"
#include "window/widgets/popup.h"
#include "window/workspace.h"

namespace fovea {

ParameterPopup::ParameterPopup(Workspace& workspace)
    : QFrame(&workspace.window, Qt::Popup),
      workspace_(workspace),
      form_(new ParameterForm(workspace.study, workspace.editor)) {
  setObjectName("parameter_popup");
  setAccessibleName("Parameters of a column");
  auto* column = make_inner<QVBoxLayout>(this);
  column->setContentsMargins(12, 12, 12, 12);
  column->addWidget(form_);
  form_->setMinimumWidth(240);
  // The parameters may come to depend on what was chosen.
  connect(&workspace.study, &Study::session_changed, this, [this] {
    if (!isVisible()) return;
    form_->show_column(workspace_.study.selected_column());
    adjustSize();
  });
}

void ParameterPopup::open_at(QPoint place, int column) {
  const auto& columns = workspace_.study.session().columns;
  if (column < 0 || column >= std::ssize(columns) || workspace_.study.shows_matrix()) return;
  workspace_.study.select_column(column);
  form_->show_column(column);
  show_on_screen(*this, place);
  form_->start_editing();
}

}  // namespace fovea

#include "moc_parameter_popup.cpp"
