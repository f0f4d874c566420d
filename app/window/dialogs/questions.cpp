#include "window/dialogs/questions.h"

#include <QAction>
#include <QComboBox>
#include <QFileDialog>
#include <QInputDialog>
#include <QLocale>
#include <QMessageBox>
#include <QRegularExpression>
#include <QSettings>
#include <map>

#include "data/error.h"
#include "data/layer_conditions.h"
#include "data/memory.h"
#include "data/number_text.h"
#include "window/widgets/text.h"
#include "window/workspace.h"

namespace fovea {
namespace {

void choose_back_end(Workspace& workspace, const DeviceReport& report) {
  const Backend& backend = workspace.study.backend();
  QString text =
      QString("Computing on %1, %2.\n\nGPU: %3\n")
          .arg(to_qt(backend.device()), to_qt(backend.precision()),
               to_qt(report.device ? report.device->name : "none (" + report.why_not + ")"));
  QStringList choices{"cpu fp32"};
  for (const char* precision : gpu_precisions) {
    if (!report.device) break;
    bool passed = false;
    for (const std::string& name :
         {wgmma_verdict_name(*report.device, precision), std::string(precision)}) {
      if (name.empty()) continue;
      const auto verdict = report.verdict(name);
      text += QString("%1 %2\n").arg(to_qt(name), to_qt(verdict_text(*verdict)));
      passed = passed || verdict->passed;
    }
    if (passed) choices << QString("cuda %1").arg(precision);
  }
  text += "\nCompute on:";
  const QString now = to_qt(backend.id() + " " + backend.precision());
  bool accepted = false;
  const QString chosen = QInputDialog::getItem(&workspace.window, "Back end", text, choices,
                                               choices.indexOf(now), false, &accepted);
  if (!accepted || chosen == now) return;
  const QStringList words = chosen.split(' ');
  workspace.study.use_backend(
      BackendChoice{.backend = words[0].toStdString(), .precision = words[1].toStdString()});
}

/// ".fovea.json" and ".json" of "Sessions (*.fovea.json *.json)".
QStringList endings_of(const QString& filter) {
  return filter.section("(*", 1).section(')', 0, 0).split(" *");
}

/// The ending of the name if it is one of the filters' endings; else empty.
QString ending_of(const QString& name, const QStringList& filters) {
  for (const QString& filter : filters)
    for (const QString& ending : endings_of(filter))
      if (name.endsWith(ending, Qt::CaseInsensitive)) return ending;
  return {};
}

QString text_of(double x) {
  return QString::number(x, 'g', QLocale::FloatingPointShortest);
}
QString text_of(Index x) {
  return QString::number(x);
}

bool read(const QString& text, double& to) {
  bool ok = false;
  to = text.toDouble(&ok);
  return ok;
}
bool read(const QString& text, Index& to) {
  bool ok = false;
  to = text.toLongLong(&ok);
  return ok;
}

template <class T>
std::optional<std::optional<T>> ask_number(Workspace& workspace, const Condition<T>& condition) {
  const auto problem = workspace.study.problem();
  if (!problem) return {};
  const QString now = text_of(*(conditions_of(*problem).*condition.member));
  QString title = condition.name;
  title[0] = title[0].toUpper();
  const QString question = QString("%1. Leave it empty for what the source states, else %2.")
                               .arg(condition.meaning, condition.otherwise);
  bool ok = false;
  const QString text =
      QInputDialog::getText(&workspace.window, title, question, QLineEdit::Normal, now, &ok);
  if (!ok || text == now) return {};
  if (text.trimmed().isEmpty()) return std::optional<T>();
  T value = 0;
  if (read(text, value) && condition.allows(value)) return std::optional(value);
  workspace.info_bar.show_message(
      QString("%1 “%2”: expected %3").arg(title, text, condition.expected));
  return {};
}

}  // namespace

std::optional<std::pair<Index, Index>> ask_pair(Workspace& workspace) {
  const Lengths lengths = workspace.study.lengths();
  if (lengths.queries == 0) return {};
  const auto [queries, keys] = lengths;
  const auto& compressed = workspace.study.key_sequence().compressed;
  const Index tokens = compressed ? compressed->tokens : keys;
  QString expected = QString("Query (0 to %1), key (0 to %2").arg(queries - 1).arg(keys - 1);
  if (compressed) expected += QString(", entries also e0 to e%1").arg(compressed->count() - 1);
  expected += ")";
  bool ok = false;
  const QString text =
      QInputDialog::getText(&workspace.window, "Go to", expected, QLineEdit::Normal, {}, &ok);
  if (!ok) return {};
  static const QRegularExpression pair(
      R"(^\s*(\d{1,18})(?:[,\s]+(e(?:ntry)?\s*)?(\d{1,18}))?[,\s]*$)",
      QRegularExpression::CaseInsensitiveOption);
  if (const auto match = pair.match(text); match.hasMatch()) {
    const bool of_entry = match.hasCaptured(2);
    const Index query = match.captured(1).toLongLong(),
                number = match.captured(3).toLongLong() + (of_entry ? tokens : 0),
                diagonal = std::clamp<Index>(query + tokens - queries, 0, keys - 1),
                key = match.hasCaptured(3) ? number : diagonal;
    if (query < queries && key < keys && (compressed || !of_entry)) return std::pair{query, key};
  }
  workspace.info_bar.show_message(QString("Go to “%1”: expected %2, such as %3, %4")
                                      .arg(text, expected)
                                      .arg(queries / 2)
                                      .arg(keys / 2));
  return {};
}

std::optional<std::optional<double>> ask(Workspace& workspace, const Condition<double>& condition) {
  return ask_number(workspace, condition);
}

std::optional<std::optional<Index>> ask(Workspace& workspace, const Condition<Index>& condition) {
  return ask_number(workspace, condition);
}

void use_kept_memory_budget() {
  try {
    set_memory_budget(
        parse_memory_budget(QSettings().value("memory", "half").toString().toStdString()));
  } catch (const UsageError&) {  // written by another version: no budget is set
  }
}

void ask_memory_budget(Workspace& workspace) {
  const auto bytes = [](std::size_t count) { return to_qt(format_bytes(count, Zeros::drop)); };
  const auto budget = memory_budget();
  bool ok = false;
  const QString text = QInputDialog::getText(
      &workspace.window, "Memory budget",
      QString("What needs more memory is refused before it begins.\n"
              "A size such as 16G or 800M, at least 64M; half: half of what is free. Free now: %1.")
          .arg(bytes(free_memory())),
      QLineEdit::Normal, budget ? bytes(*budget) : QString("half"), &ok);
  if (!ok) return;
  try {
    set_memory_budget(parse_memory_budget(text.trimmed().toStdString()));
  } catch (const UsageError& error) {
    return workspace.info_bar.show_message(to_qt(error.what()));
  }
  QSettings().setValue("memory", text.trimmed());
  workspace.study.resume();
}

void ask_back_end(Workspace& workspace, QAction& action) {
  action.setEnabled(false);
  workspace.show_status("Looking for a GPU, and testing it if that was not done yet…");
  const auto report = std::make_shared<DeviceReport>();
  workspace.background->devices.run(
      [report] {
        const SelfTests tests = SelfTests::of_this_program();
        *report = report_device(tests, true);
        if (!report->device) return;
        std::map<std::string, Verdict> verdicts;
        for (const std::string& name : verdict_names(*report->device))
          verdicts[name] = tests.verdict(*report->device, name);
        report->verdict = [verdicts](const std::string& precision) {
          return std::optional(verdicts.at(precision));
        };
      },
      &workspace.window,
      [&workspace, &action, report](const std::string& error) {
        if (!error.empty()) *report = {.device = {}, .why_not = error, .verdict = {}};
        choose_back_end(workspace, *report);
        action.setEnabled(true);
      });
}

QString ask_new_file(QWidget& parent, const QString& title, const QString& proposed,
                     const QStringList& filters) {
  QFileDialog dialog(&parent, title);
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  // The dialog would ask about the name as typed.
  dialog.setOption(QFileDialog::DontConfirmOverwrite);
  dialog.setNameFilters(filters);
  dialog.selectFile(proposed);
  const auto follow = [&](const QString& filter) {
    const QString name = QFileInfo(dialog.selectedFiles().value(0)).fileName();
    dialog.selectFile(name.chopped(ending_of(name, filters).size()) + endings_of(filter).front());
  };
  QObject::connect(&dialog, &QFileDialog::filterSelected, &dialog, follow);
  // Qt's own dialog puts the new ending in place of everything behind the last dot; this comes
  // before that.
  if (const auto* kinds = dialog.findChild<QComboBox*>("fileTypeCombo"))
    QObject::connect(kinds, &QComboBox::currentTextChanged, &dialog, follow);
  while (dialog.exec() == QDialog::Accepted) {
    QString path = dialog.selectedFiles().value(0);
    if (ending_of(path, filters).isEmpty()) path += endings_of(dialog.selectedNameFilter()).front();
    if (!QFileInfo::exists(path)) return path;
    QMessageBox question(
        QMessageBox::Question, title,
        QFileInfo(path).fileName() + " is there already. Do you want to replace it?",
        QMessageBox::Yes | QMessageBox::No, &parent);
    question.setTextFormat(Qt::PlainText);
    if (question.exec() == QMessageBox::Yes) return path;
  }
  return {};
}

void show_about(QWidget& parent) {
  QMessageBox::about(&parent, "About Fovea",
                     "<h3>Fovea</h3><p>A microscope for attention: where a head looks, what each "
                     "efficient attention keeps or loses of it, and what it costs.</p><p>Every "
                     "number shown was computed from the opened source; times are measured on this "
                     "machine.</p>");
}

}  // namespace fovea
