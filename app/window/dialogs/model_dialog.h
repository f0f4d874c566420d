// The ModelDialog opens a model with its input: a model in the cache of Hugging Face's hub, a
// folder, or a .gguf file. It says what will compute the model.
#pragma once

#include <QDialog>
#include <QTimer>
#include <functional>
#include <string>
#include <vector>

#include "input/model_cache.h"
#include "study/background.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QStackedWidget;
class QStringListModel;
class QTableWidget;

namespace fovea {

class Files;
struct Workspace;

/// Takes the interpreter that was chosen in this dialog before.
void use_kept_interpreter();

/// Opens the dialog of the window.
void show_open_model(Workspace& workspace, Files& files);

class ModelDialog : public QDialog {
  Q_OBJECT

 public:
  explicit ModelDialog(Workspace& workspace);

  /// Lists the models of the cache, in the background, and proposes what is shown now as the input.
  void open_dialog();
  /// The questions of the buttons; empty answers if nothing is chosen. Tests replace them.
  std::function<QString()> ask_for_model, ask_for_image, ask_for_interpreter;

 signals:
  /// The address of a model and what it reads.
  void chosen(const QString& address);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QLayout* make_model_row();
  QWidget* make_inputs();
  QLayout* make_road_row();
  void list_models();
  void fill(const std::vector<CachedModel>& models);
  /// Finds the named model, and says what will compute it.
  void look();
  void found(const ModelFacts& facts, const std::string& error);
  void choose_interpreter();
  void open_model();
  /// The model that is named, with "~/" as the home folder.
  std::string named() const;

  Workspace& workspace_;
  QTimer pause_;              // since the last key stroke in the name
  std::string file_of_text_;  // the file that is read if no text is typed; empty if none
  QLineEdit *model_, *image_;
  QStringListModel* names_;
  QTableWidget* list_;
  QLabel *about_list_, *finding_;
  QPlainTextEdit* text_;
  QStackedWidget* inputs_;
  QPushButton* open_;
  BackgroundThread looking_;
};

}  // namespace fovea
