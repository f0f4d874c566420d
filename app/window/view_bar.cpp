#include "window/view_bar.h"

#include <QAction>
#include <QLabel>
#include <QMenu>
#include <QToolBar>
#include <QToolButton>

#include "views/views.h"
#include "window/main_window.h"

namespace fovea {
namespace {

/// The fields that entries of a menu refer to.
struct Kept : QObject {
  Kept(QMenu& menu, SettingFieldList kept) : QObject(&menu), fields(std::move(kept)) {}
  SettingFieldList fields;
};

class ViewBar : public QToolBar {
 public:
  ViewBar(MainWindow& window, GeneralFields fields);

 private:
  /// An action of the window, by the name of its QAction, under a short name.
  void add_action(const char* name, const QString& text);
  void add_field(SettingField& field);

  MainWindow& window_;
  GeneralFields fields_;
};

ViewBar::ViewBar(MainWindow& window, GeneralFields fields)
    : QToolBar("Tools", &window), window_(window), fields_(std::move(fields)) {
  setObjectName("view_bar");
  setMovable(false);
  setToolButtonStyle(Qt::ToolButtonTextOnly);
  // This button shows the fields that do not fit. Its own arrow is invisible in a dark theme.
  if (auto* more = findChild<QToolButton*>("qt_toolbar_ext_button")) {
    more->setToolButtonStyle(Qt::ToolButtonTextOnly);
    more->setText("»");
    more->setToolTip("More tools");
    more->setAccessibleName(more->toolTip());
  }
  add_action("open", "Open");
  add_action("undo", "Undo");
  add_action("redo", "Redo");
  addSeparator();
  for (const auto& field : {fields_.map, fields_.pool, fields_.range}) add_field(*field);
  addSeparator();
  add_action("add_columns", "Add columns");
  add_action("explore", "Which attention?");
  add_action("compare", "Compare");
  add_action("export", "Export");
}

void ViewBar::add_action(const char* name, const QString& text) {
  auto* action = window_.findChild<QAction*>(name);
  action->setIconText(text);
  addAction(action);
}

void ViewBar::add_field(SettingField& field) {
  QWidget* widget = field.make_widget();
  if (!field.names_itself()) {
    auto* label = new QLabel(field.words().name);
    label->setProperty("style", "note");
    label->setContentsMargins(3, 0, 2, 0);
    label->setToolTip(field.words().tip);
    addWidget(label);
  }
  addWidget(widget);
}

}  // namespace

GeneralFields add_settings(MainWindow& window, QMenu& menu) {
  const GeneralFields general = general_fields(window.study(), window.editor());
  SettingFieldList fields{general.norm, general.floor, general.map, general.range, general.pool};
  for (const View view : all_views())
    for (auto& field : own_fields(view, window.study(), window.editor()))
      fields.push_back(std::move(field));
  for (const auto& field : fields) field->add_to_menu(menu);
  new Kept(menu, std::move(fields));
  return general;
}

void make_view_bar(MainWindow& window, const GeneralFields& fields) {
  window.addToolBar(new ViewBar(window, fields));
}

}  // namespace fovea
