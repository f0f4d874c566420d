// SettingFields are how a person sees and changes the settings of views: each can be a field of a
// bar or of a row's settings, and a part of a menu.
#pragma once

#include <QString>
#include <functional>
#include <memory>
#include <vector>

#include "session/session.h"
#include "study/canvas_model.h"

class QMenu;
class QObject;
class QWidget;

namespace fovea {

class SessionEditor;
class Study;

class SettingField {
 public:
  /// `name` stands before the field, and names it for a screen reader. `menu` is the name in a
  /// menu, where & marks the letter that chooses it. `tip` says what the setting means.
  struct Words {
    QString name, menu, tip;
    /// Why it changes nothing now; empty if it does.
    std::function<QString(const CanvasModel&)> why_unused = [](const CanvasModel&) {
      return QString();
    };
  };

  SettingField(Words words, Study& study, SessionEditor& editor)
      : words_(std::move(words)), study_(study), editor_(editor) {}
  virtual ~SettingField() = default;
  SettingField(const SettingField&) = delete;
  SettingField& operator=(const SettingField&) = delete;

  const Words& words() const { return words_; }
  /// Whether the field needs no name before it, as a button that says what it is.
  virtual bool names_itself() const { return false; }
  /// A new field, which follows the session.
  QWidget* make_widget();
  virtual void add_to_menu(QMenu& menu) = 0;

 protected:
  virtual QWidget* make_bare_widget() = 0;
  void change(const std::function<void(ViewSettings&)>& edit);
  /// Calls `show` with the settings of the session, now and after each change, while `of` exists.
  void follow(QObject& of, std::function<void(const ViewSettings&)> show);

 private:
  Words words_;
  Study& study_;
  SessionEditor& editor_;
};

using SettingFieldList = std::vector<std::shared_ptr<SettingField>>;

/// The settings of all rows.
struct GeneralFields {
  std::shared_ptr<SettingField> norm, floor, map, range, pool;
};
GeneralFields general_fields(Study& study, SessionEditor& editor);
/// The settings of one view.
SettingFieldList own_fields(View view, Study& study, SessionEditor& editor);

}  // namespace fovea
