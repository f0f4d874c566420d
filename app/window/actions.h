// Actions are the menus and keys of a MainWindow. Every key can be changed under Help > Keys.
#pragma once

#include <functional>
#include <vector>

#include "window/files.h"
#include "window/navigation.h"
#include "window/pictures.h"
#include "window/token_search.h"

class QAction;
class QMenu;

namespace fovea {

class MainWindow;

class Actions {
 public:
  Actions(MainWindow& window, WindowParts& parts, Files& files, Pictures& pictures,
          Navigation& navigation, TokenSearch& search);

 private:
  using Run = std::function<void()>;

  /// `menu` null: a key alone. `name`: under which the key is remembered.
  QAction* add(QMenu* menu, const QString& name, const QString& text, const QKeySequence& keys,
               Run run);
  /// Checked while `is_on`. `name`: as of add(); empty: it has no key.
  void add_checked(QMenu* menu, const QString& text, std::function<bool()> is_on, Run run,
                   const QString& name = {});
  template <class T>
  void add_choices(QMenu* menu, const std::vector<std::pair<QString, T>>& choices,
                   T ViewSettings::*member);
  void make_file_menu();
  void make_examples(QMenu* menu);
  void make_recent(QMenu* menu);
  void make_edit_menu();
  void make_view_menu();
  void make_settings_menus(QMenu* menu);
  void make_variant_menu();
  void make_compute_menu();
  void make_help_menu();
  void make_canvas_keys();
  void make_picture_keys();
  void refresh();

  MainWindow& window_;
  WindowParts& parts_;
  Study& study_;
  SessionEditor& editor_;
  Files& files_;
  Pictures& pictures_;
  Navigation& navigation_;
  TokenSearch& search_;
  std::vector<Run> refreshers_;
};

}  // namespace fovea
