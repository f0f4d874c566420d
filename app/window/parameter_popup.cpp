#include "window/parameter_popup.h"

#include "window/docks/parameter_form.h"
#include "window/main_window.h"
#include "window/widgets/form.h"
#include "window/widgets/popup.h"

namespace fovea {

ParameterPopup::ParameterPopup(MainWindow& window)
    : QFrame(&window, Qt::Popup),
      window_(window),
      form_(new ParameterForm(window.study(), window.editor())) {
  setObjectName("parameter_popup");
  setAccessibleName("Parameters of a column");
  auto* column = make_inner<QVBoxLayout>(this);
  column->setContentsMargins(12, 12, 12, 12);
  column->addWidget(form_);
  form_->setMinimumWidth(240);
  // The parameters may come to depend on what was chosen.
  connect(&window.study(), &Study::session_changed, this, [this] {
    if (!isVisible()) return;
    form_->show_column(std::size_t(window_.study().selected_column()));
    adjustSize();
  });
}

void ParameterPopup::open_at(QPoint place, int column) {
  const auto& columns = window_.study().session().columns;
  if (column < 0 || column >= std::ssize(columns) || window_.study().shows_matrix()) return;
  window_.study().select_column(column);
  form_->show_column(std::size_t(column));
  show_on_screen(*this, place);
  form_->start_editing();
}

}  // namespace fovea

#include "moc_parameter_popup.cpp"
