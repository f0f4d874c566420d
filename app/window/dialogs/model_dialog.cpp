#include "window/dialogs/model_dialog.h"

#include <QCompleter>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QStackedWidget>
#include <QStringListModel>
#include <QTableWidget>

#include "data/error.h"
#include "input/bundled_models.h"
#include "input/model_place.h"
#include "input/open_source.h"
#include "window/files.h"
#include "window/proposed_input.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"
#include "window/workspace.h"
#include "worker/interpreter.h"

namespace fovea {
namespace {

enum ModelField {
  model_name_field,
  architecture_field,
  heads_field,
  size_field,
  road_field,
  model_fields
};
constexpr const char* python_setting = "python";
constexpr int most_typed = 100000;  // characters, as in Input

QString heads_text(const ModelFacts& facts) {
  if (facts.layers == 0) return {};
  return facts.heads == 0 ? QString::number(facts.layers)
                          : QString("%1 × %2").arg(facts.layers).arg(facts.heads);
}

QString size_text(const ModelFacts& facts) {
  return facts.bytes == 0
             ? QString()
             : QLocale::c().formattedDataSize(facts.bytes, 1, QLocale::DataSizeSIFormat);
}

QString road_text(const CachedModel& model) {
  return !model.problem.empty() ? "incomplete" : model.facts.own ? "Fovea" : "Python";
}

/// "bert, 6 layers × 12 heads"
QString facts_text(const ModelFacts& facts) {
  QStringList parts;
  if (!facts.architecture.empty()) parts << to_qt(printable(facts.architecture));
  if (facts.layers > 0)
    parts << QString("%1 layers").arg(facts.layers) +
                 (facts.heads > 0 ? QString(" × %1 heads").arg(facts.heads) : QString());
  return parts.isEmpty() ? QString("A model") : parts.join(", ");
}

QString road_text(const ModelFacts& facts) {
  if (facts.own) return "computed by Fovea itself";
  const Interpreter python = find_interpreter();
  return QString("computed by Python: %1 (from %2)").arg(to_qt(python.path), to_qt(python.named));
}

}  // namespace

void use_kept_interpreter() {
  set_interpreter_setting(QSettings().value(python_setting).toString().toStdString());
}

void show_open_model(Workspace& workspace, Files& files) {
  auto* dialog = workspace.window.findChild<ModelDialog*>();
  if (!dialog) {
    dialog = new ModelDialog(workspace);
    QObject::connect(dialog, &ModelDialog::chosen, &files, &Files::open);
  }
  dialog->open_dialog();
}

ModelDialog::ModelDialog(Workspace& workspace) : QDialog(&workspace.window), workspace_(workspace) {
  setWindowTitle("Open model");
  setObjectName("open_model_dialog");
  ask_for_model = [this] {
    return QFileDialog::getOpenFileName(
        this, "Open a model: config.json in its folder, or a .gguf file", in_last_directory({}),
        "Models (config.json *.gguf *.safetensors)");
  };
  ask_for_image = [this] {
    return QFileDialog::getOpenFileName(this, "An image for the model", in_last_directory({}));
  };
  ask_for_interpreter = [this] {
    return QFileDialog::getOpenFileName(this, "Choose the Python with torch and transformers",
                                        "/usr/bin");
  };
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(12, 12, 12, 12);
  column->setSpacing(rhythm);
  column->addLayout(make_model_row());
  column->addWidget(list_ = new QTableWidget(0, model_fields), 2);
  list_->setObjectName("models");
  list_->setAccessibleName("Models in the local cache");
  list_->setHorizontalHeaderLabels(
      {"Model", "Architecture", "Layers × heads", "Weights", "Computed by"});
  list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  list_->setSelectionBehavior(QAbstractItemView::SelectRows);
  list_->setSelectionMode(QAbstractItemView::SingleSelection);
  list_->setTabKeyNavigation(false);
  list_->setShowGrid(false);
  list_->setWordWrap(false);
  list_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  list_->verticalHeader()->hide();
  list_->horizontalHeader()->setHighlightSections(false);
  list_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  list_->horizontalHeader()->setSectionResizeMode(model_name_field, QHeaderView::Stretch);
  column->addWidget(about_list_ = make_note());
  about_list_->setObjectName("about_models");
  make_selectable(*about_list_);
  column->addWidget(make_inputs(), 1);
  column->addLayout(make_road_row());
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  open_ = buttons->addButton("&Open", QDialogButtonBox::AcceptRole);
  open_->setObjectName("open_model_now");
  open_->setDefault(true);
  column->addWidget(buttons);
  pause_.setSingleShot(true);
  pause_.setInterval(150);
  connect(&pause_, &QTimer::timeout, this, &ModelDialog::look);
  connect(model_, &QLineEdit::textChanged, this, [this] {
    open_->setEnabled(false);
    pause_.start();
  });
  connect(list_, &QTableWidget::currentCellChanged, this, [this](int row) {
    if (row >= 0) model_->setText(list_->item(row, model_name_field)->text());
  });
  connect(list_, &QTableWidget::cellActivated, this, &ModelDialog::open_model);
  connect(buttons, &QDialogButtonBox::accepted, this, &ModelDialog::open_model);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  resize(720, 620);
}

QLayout* ModelDialog::make_model_row() {
  auto* row = make_inner<QHBoxLayout>();
  add_field(*row, "&Model", model_ = new QLineEdit, 0, 1);
  model_->setObjectName("model_name");
  model_->setPlaceholderText("A name in the list, a folder, or a .gguf file");
  model_->setClearButtonEnabled(true);
  model_->installEventFilter(this);
  names_ = new QStringListModel(this);
  auto* completer = new QCompleter(names_, this);
  completer->setCaseSensitivity(Qt::CaseInsensitive);
  completer->setFilterMode(Qt::MatchContains);
  model_->setCompleter(completer);
  auto* browse = new QPushButton("&Browse…");
  browse->setObjectName("browse_models");
  browse->setAutoDefault(false);
  row->addWidget(browse);
  connect(browse, &QPushButton::clicked, this, [this] {
    if (const QString path = ask_for_model(); !path.isEmpty()) model_->setText(path);
  });
  return row;
}

QWidget* ModelDialog::make_inputs() {
  inputs_ = new QStackedWidget;
  auto* words = new QWidget;
  auto* row = make_inner<QHBoxLayout>(words);
  add_field(*row, "&Text", text_ = new QPlainTextEdit, 0, 1);
  text_->setObjectName("text_for_model");
  text_->setTabChangesFocus(true);
  inputs_->addWidget(words);
  auto* picture = new QWidget;
  row = make_inner<QHBoxLayout>(picture);
  add_field(*row, "&Image", image_ = new QLineEdit, 0, 1);
  image_->setObjectName("image_for_model");
  auto* browse = new QPushButton("B&rowse…");
  browse->setObjectName("browse_images");
  browse->setAutoDefault(false);
  row->addWidget(browse);
  row->setAlignment(Qt::AlignTop);
  inputs_->addWidget(picture);
  connect(browse, &QPushButton::clicked, this, [this] {
    if (const QString path = ask_for_image(); !path.isEmpty()) image_->setText(path);
  });
  return inputs_;
}

QLayout* ModelDialog::make_road_row() {
  auto* row = make_inner<QHBoxLayout>();
  row->addWidget(finding_ = make_note(), 1);
  finding_->setObjectName("model_finding");
  make_selectable(*finding_);
  auto* choose = new QPushButton("Choose &Python…");
  choose->setObjectName("choose_python");
  choose->setAutoDefault(false);
  row->addWidget(choose, 0, Qt::AlignTop);
  connect(choose, &QPushButton::clicked, this, &ModelDialog::choose_interpreter);
  return row;
}

// The arrow key goes from the field to the list.
bool ModelDialog::eventFilter(QObject* watched, QEvent* event) {
  if (watched == model_ && event->type() == QEvent::KeyPress &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Down && list_->rowCount() > 0) {
    list_->setFocus();
    if (list_->currentRow() < 0) list_->setCurrentCell(0, model_name_field);
    return true;
  }
  return QDialog::eventFilter(watched, event);
}

void ModelDialog::open_dialog() {
  const auto source = workspace_.study.source();
  const ModelAddress words = reading_text(".", source.get());
  file_of_text_ = words.input.value_or("");
  text_->setPlainText(to_qt(words.text.value_or("")).left(most_typed));
  text_->setPlaceholderText(file_of_text_.empty()
                                ? QString("Type or paste a text for the model")
                                : "The text of " + to_qt(short_name(file_of_text_)) +
                                      ", if none is typed here");
  image_->setText(to_qt(*reading_picture(".", source.get()).input));
  list_models();
  look();
  open();  // the window waits until the dialog is answered
  model_->setFocus();
  model_->selectAll();
}

void ModelDialog::list_models() {
  about_list_->setText("Looking into " + to_qt(model_cache()) + "…");
  const auto models = std::make_shared<std::vector<CachedModel>>();
  looking_.run([models] { *models = cached_models(); }, this,
               [this, models](const std::string&) { fill(*models); });
}

void ModelDialog::fill(const std::vector<CachedModel>& models) {
  const QSignalBlocker quiet(list_);
  list_->clearSelection();
  list_->setCurrentItem(nullptr);
  list_->setRowCount(int(models.size()));
  QStringList names;
  for (int row = 0; row < list_->rowCount(); ++row) {
    const CachedModel& model = models[row];
    const QString name = to_qt(printable(model.name));
    const QString texts[model_fields] = {name, to_qt(printable(model.facts.architecture)),
                                         heads_text(model.facts), size_text(model.facts),
                                         road_text(model)};
    for (int field = 0; field < model_fields; ++field) {
      auto* item = new QTableWidgetItem(texts[field]);
      if (!model.problem.empty()) item->setFlags(Qt::NoItemFlags);
      item->setToolTip(plain_tip(to_qt(model.problem.empty() ? model.path : model.problem)));
      list_->setItem(row, field, item);
    }
    if (model.problem.empty()) names << name;
  }
  names << to_qt(std::string(bundled_text_model)) << to_qt(std::string(bundled_image_model));
  names_->setStringList(names);
  about_list_->setText(
      models.empty()
          ? QString("The cache %1 has no models. Fovea downloads none: `hf download "
                    "sentence-transformers/all-MiniLM-L6-v2` fetches a small one, 90 MB. Browse… "
                    "opens a folder or a .gguf file. bundled:text and bundled:image come with "
                    "Fovea.")
                .arg(to_qt(model_cache()))
          : "Models in " + to_qt(model_cache()) + ", the last used first");
}

void ModelDialog::look() {
  pause_.stop();
  const std::string name = named();
  open_->setEnabled(false);
  if (name.empty()) return finding_->setText("Choose a model, or type its name or path.");
  const auto facts = std::make_shared<ModelFacts>();
  looking_.run([facts, name] { *facts = model_facts(find_model(name).path); }, this,
               [this, facts, name](const std::string& error) {
                 if (name != named()) return;  // another name has been typed meanwhile
                 found(*facts, error);
               });
}

void ModelDialog::found(const ModelFacts& facts, const std::string& error) {
  open_->setEnabled(error.empty());
  if (!error.empty()) return finding_->setText(to_qt(error));
  inputs_->setCurrentIndex(facts.reads_images);
  try {
    finding_->setText(facts_text(facts) + ": " + road_text(facts));
  } catch (const UnavailableError& missing) {  // opening it says the same
    finding_->setText(facts_text(facts) + ": " + to_qt(missing.what()));
  }
}

void ModelDialog::choose_interpreter() {
  const QString path = ask_for_interpreter();
  if (path.isEmpty()) return;
  QSettings().setValue(python_setting, path);
  use_kept_interpreter();
  look();
}

std::string ModelDialog::named() const {
  const QString name = model_->text().trimmed();
  return (name.startsWith("~/") ? QDir::homePath() + name.mid(1) : name).toStdString();
}

void ModelDialog::open_model() {
  if (!open_->isEnabled()) return;
  ModelAddress address{.folder = absolute_model(named())};
  const QString text = text_->toPlainText().left(most_typed);
  if (inputs_->currentIndex() == 1)
    address.input = image_->text().toStdString();
  else if (text.trimmed().isEmpty() && !file_of_text_.empty())
    address.input = file_of_text_;
  else
    address.text = text.toStdString();
  accept();
  emit chosen(to_qt(to_text(address)));
}

}  // namespace fovea

#include "moc_model_dialog.cpp"
