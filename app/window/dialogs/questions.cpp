#include "window/dialogs/questions.h"

#include <QInputDialog>
#include <QMessageBox>
#include <QRegularExpression>
#include <cmath>

#include "window/widgets/info_bar.h"

namespace fovea {

std::optional<std::pair<Index, Index>> ask_pair(QWidget& parent, Index n, InfoBar& messages) {
  if (n == 0) return {};
  bool ok = false;
  const QString text = QInputDialog::getText(
      &parent, "Go to", QString("Query, key (0 to %1)").arg(n - 1), QLineEdit::Normal, {}, &ok);
  if (!ok) return {};
  const QStringList parts = text.split(QRegularExpression("[,\\s]+"), Qt::SkipEmptyParts);
  bool good_query = false, good_key = true;
  const Index query = parts.isEmpty() ? -1 : parts[0].toLongLong(&good_query);
  const Index key = parts.size() > 1 ? parts[1].toLongLong(&good_key) : query;
  if (good_query && good_key && query >= 0 && key >= 0 && query < n && key < n)
    return std::pair{query, key};
  messages.show_message(
      QString("“%1”: a query and a key from 0 to %2 expected, as 13, 26").arg(text).arg(n - 1));
  return {};
}

std::optional<std::optional<double>> ask_scale(QWidget& parent, double now, InfoBar& messages) {
  bool ok = false;
  const QString text = QInputDialog::getText(
      &parent, "Scale", "Logits are scale · q·k. Empty: the source's, else 1/√d", QLineEdit::Normal,
      QString::number(now), &ok);
  if (!ok) return {};
  if (text.trimmed().isEmpty()) return std::optional<double>();
  const double scale = text.toDouble(&ok);
  if (ok && scale > 0 && std::isfinite(scale)) return std::optional(scale);
  messages.show_message(QString("scale “%1”: a number above 0 expected").arg(text));
  return {};
}

namespace {

void choose_back_end(QWidget& parent, Study& study, const std::string& why_no_cuda) {
  const Backend& backend = study.backend();
  const bool cuda = why_no_cuda.empty();
  const QString text = QString("Computing on %1: %2, %3.\nCUDA: %4\n\nCompute on:")
                           .arg(QString::fromStdString(backend.id()).toUpper(),
                                QString::fromStdString(backend.device()),
                                QString::fromStdString(backend.precision()),
                                cuda ? QString("available") : QString::fromStdString(why_no_cuda));
  QStringList choices{"cpu fp32"};
  if (cuda) choices << QStringList{"cuda fp32", "cuda bf16", "cuda fp16"};
  const QString now = QString::fromStdString(backend.id() + " " + backend.precision());
  bool accepted = false;
  const QString chosen = QInputDialog::getItem(&parent, "Back end", text, choices,
                                               int(choices.indexOf(now)), false, &accepted);
  if (!accepted || chosen == now) return;
  const QStringList words = chosen.split(' ');
  study.use_backend(
      BackendChoice{.backend = words[0].toStdString(), .precision = words[1].toStdString()});
}

}  // namespace

void ask_back_end(QWidget& parent, Study& study, Background& background) {
  const auto why_no_cuda = std::make_shared<std::string>();
  const bool on_cuda = study.backend().id() == "cuda";
  background.devices.run(
      [why_no_cuda, on_cuda] {
        std::string why;
        if (!on_cuda && !make_cuda_backend({}, &why)) *why_no_cuda = why.empty() ? "absent" : why;
      },
      &parent,
      [&parent, &study, why_no_cuda](const std::string& error) {
        choose_back_end(parent, study, error.empty() ? *why_no_cuda : error);
      });
}

void show_about(QWidget& parent) {
  QMessageBox::about(&parent, "About Fovea",
                     "<h3>Fovea</h3><p>A microscope for attention: where a head looks, what each "
                     "efficient attention keeps or loses of it, and what it costs.</p><p>Every "
                     "number shown was computed from the opened source; times are measured on this "
                     "machine.</p>");
}

}  // namespace fovea
