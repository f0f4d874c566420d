#include "window/widgets/copy_button.h"

#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QToolButton>

#include "window/widgets/text.h"

namespace fovea {

QToolButton* make_copy_button(std::function<std::string(TableFormat)> text_of) {
  auto* button = new QToolButton;
  button->setText("Copy");
  button->setToolTip("Copy the table");
  button->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(button);
  for (const auto& [name, format] : {std::pair{"As &text", TableFormat::text},
                                     {"As &Markdown", TableFormat::markdown},
                                     {"As &LaTeX", TableFormat::latex}})
    menu->addAction(name, button, [text_of, format] {
      QApplication::clipboard()->setText(to_qt(text_of(format)));
    });
  button->setMenu(menu);
  return button;
}

}  // namespace fovea
