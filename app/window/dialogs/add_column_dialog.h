// The AddColumnDialog shows every variant with a sentence and a small picture of the opened head,
// in groups, for choosing the next columns by typing, with arrows or with the mouse.
#pragma once

#include <QDialog>
#include <map>
#include <memory>
#include <string>

#include "panels/variant_card.h"
#include "study/background_run.h"

class QLineEdit;
class QListWidget;
class QListWidgetItem;
class QPushButton;

namespace fovea {

class SessionEditor;

class AddColumnDialog : public QDialog {
  Q_OBJECT

 public:
  AddColumnDialog(Study& study, SessionEditor& editor, QWidget* parent);

  /// Shows all variants, and begins to draw the pictures that are not of the opened head.
  void open_dialog();

  /// The card of a variant. Null if not there yet.
  const VariantCard* card(const Variant& variant) const;
  const std::string& colours() const { return colours_; }  // of pictures

 signals:
  void added();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void fill();
  void add_item(const Variant& variant);
  void add_heading(const QString& title);
  void filter(const QString& words);
  void draw_pictures();
  void take(VariantCard card);
  void add_chosen();
  void refresh_button();

  Study& study_;
  SessionEditor& editor_;
  BackgroundRun pictures_;
  std::shared_ptr<const Problem> problem_;  // that the cards are of
  std::map<std::string, VariantCard> cards_;
  std::string colours_;
  QLineEdit* words_;
  QListWidget* list_;
  QPushButton* add_;
};

}  // namespace fovea
