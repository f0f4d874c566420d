#include "window/dialogs/export_dialog.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFontComboBox>
#include <QFormLayout>
#include <QImage>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QTimer>
#include <algorithm>
#include <cmath>
#include <memory>
#include <stop_token>
#include <utility>

#include "backend/profile.h"
#include "data/error.h"
#include "figure/caption.h"
#include "figure/preset.h"
#include "study/background.h"
#include "window/dialogs/questions.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

constexpr int preview_side = 560;  // pixels at most

struct PageSize {
  QString name;
  FigureStyle style;
};

FigureStyle page_of(double inches) {
  return {.width = inches * points_per_inch, .captions = Captions::line};
}

/// Two common widths, then the presets of venues.
std::vector<PageSize> page_sizes() {
  std::vector<PageSize> sizes{{"7 in, two columns", page_of(7)},
                              {"3.5 in, one column", page_of(3.5)}};
  for (const Preset& preset : presets()) {
    sizes.push_back({to_qt(preset.where) + QString(": %1 in").arg(preset.width, 0, 'g', 4), {}});
    put_into(sizes.back().style, preset);
  }
  return sizes;
}

/// The figure as it will look, at most so large in pixels.
QImage preview_of(const Figure& figure, double side, const Run& run) {
  const double high = figure_height(figure), wide = figure.style.width;
  const double scale = side / std::max(wide, high);
  QImage image(std::ceil(wide * scale), std::ceil(high * scale), QImage::Format_RGB32);
  QPainter painter(&image);
  painter.scale(scale, scale);
  draw_figure(painter, figure, run);
  return image;
}

/// A label that shows a figure, drawn on another thread.
class FigurePreview : public QLabel {
 public:
  explicit FigurePreview(QWidget* parent = nullptr) : QLabel(parent) {
    setObjectName("export_preview");
    setAccessibleName("Preview of the figure");
    setFixedSize(preview_side, preview_side);
    setAlignment(Qt::AlignCenter);
  }
  ~FigurePreview() override { stop_.request_stop(); }

  void show_figure(Figure figure) {
    stop_.request_stop();
    stop_ = {};
    const double ratio = devicePixelRatioF();
    const auto image = std::make_shared<QImage>();
    const auto draw = [image, ratio, figure = std::move(figure), stop = stop_.get_token()] {
      Profile profile;
      const Run run{profile, stop};
      try {
        run.check();
        *image = preview_of(figure, preview_side * ratio, run);
      } catch (const Cancelled&) {
      }
    };
    thread_.run(draw, this, [this, image, ratio](const std::string& error) {
      if (!error.empty()) return setText(to_qt(error));
      if (image->isNull()) return;
      image->setDevicePixelRatio(ratio);
      setPixmap(QPixmap::fromImage(*image));
    });
  }

 private:
  std::stop_source stop_;
  BackgroundThread thread_;
};

class ExportDialog : public QDialog {
 public:
  ExportDialog(QWidget* parent, const ExportQuestion& question);

  FigureStyle style() const;
  bool carries_session() const { return session_->isChecked(); }
  void keep() const;

 private:
  const PageSize& page() const { return sizes_[width_->currentIndex()]; }
  Figure figure() const { return question_.figure(style(), carries_session()); }
  void make_fields();
  void follow_page();
  void take_kept();
  void draw_later() { timer_.start(100); }
  QCheckBox* make_switch(const char* name, const QString& words);

  const ExportQuestion& question_;
  const std::vector<PageSize> sizes_ = page_sizes();
  QComboBox *width_ = new QComboBox, *captions_ = new QComboBox, *look_ = new QComboBox;
  QFontComboBox* font_ = new QFontComboBox;
  QDoubleSpinBox* font_size_ = new QDoubleSpinBox;
  QSpinBox* resolution_ = new QSpinBox;
  QCheckBox *footer_ = make_switch("export_footer", "&Footer: source, head and device"),
            *empty_ = make_switch("export_empty_panels", "&Empty panels with their reason"),
            *rows_ = make_switch("export_row_names", "&Names of the rows"),
            *letters_ = make_switch("export_letters", "(a), (b), … at the &panels"),
            *session_ = make_switch("export_session",
                                    "Embed the &session, so that the figure can be reopened");
  FigurePreview* preview_ = new FigurePreview;
  QTimer timer_;
};

QCheckBox* ExportDialog::make_switch(const char* name, const QString& words) {
  auto* box = new QCheckBox(words, this);
  box->setObjectName(name);
  connect(box, &QCheckBox::toggled, this, [this] { draw_later(); });
  return box;
}

ExportDialog::ExportDialog(QWidget* parent, const ExportQuestion& question)
    : QDialog(parent), question_(question) {
  setObjectName("export_dialog");
  setWindowTitle(question.title);
  timer_.setSingleShot(true);
  connect(&timer_, &QTimer::timeout, this, [this] { preview_->show_figure(figure()); });
  make_fields();
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(16, 16, 16, 16);
  row->setSpacing(16);
  auto* form = new QFormLayout;
  form->setSpacing(rhythm);
  form->addRow("&Width", width_);
  form->addRow("F&ont", font_);
  form->addRow("&Titles", font_size_);
  form->addRow("&Captions", captions_);
  form->addRow("&Resolution", resolution_);
  form->addRow("&Look", look_);
  for (QCheckBox* box : {footer_, empty_, rows_, letters_, session_}) form->addRow(box);
  for (QWidget* of_panels : std::initializer_list<QWidget*>{captions_, empty_, rows_, letters_})
    form->setRowVisible(of_panels, question.of_panels);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  buttons->button(QDialogButtonBox::Ok)->setText("Choose a file…");
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* copy = buttons->addButton("Copy caption", QDialogButtonBox::ActionRole);
  copy->setObjectName("export_copy_caption");
  copy->setToolTip("Rows, columns with parameters and errors, and the head, for LaTeX's \\caption");
  connect(copy, &QPushButton::clicked, this,
          [this] { QApplication::clipboard()->setText(to_qt(latex_caption(figure()))); });
  form->addRow(buttons);
  row->addLayout(form);
  row->addWidget(preview_);
  follow_page();
  take_kept();
  connect(width_, &QComboBox::currentIndexChanged, this, [this] { follow_page(); });
  draw_later();
}

void ExportDialog::make_fields() {
  for (const PageSize& size : sizes_) width_->addItem(size.name);
  font_size_->setRange(3, 96);
  font_size_->setDecimals(1);
  font_size_->setSuffix(" pt");
  font_size_->setToolTip("Size of titles, as printed. With a venue the other letters are smaller.");
  captions_->addItems({"none", "first statement", "all"});  // as in Captions
  resolution_->setRange(72, 1200);
  resolution_->setValue(300);
  resolution_->setSuffix(" dpi");
  look_->addItems({"light, for print", "dark, for slides"});
  font_->setCurrentFont(QFont(to_qt(FigureStyle{}.font)));
  session_->setToolTip(
      "The figure can then be opened to continue, also from a paper. Leave it out for anonymous "
      "review: the figure then names no source and no path.");
  session_->setChecked(true);
  width_->setObjectName("export_width");
  font_->setObjectName("export_font");
  font_size_->setObjectName("export_font_size");
  captions_->setObjectName("export_captions");
  resolution_->setObjectName("export_resolution");
  look_->setObjectName("export_look");
  const auto draw = [this] { draw_later(); };
  for (QComboBox* box : {width_, captions_, look_, static_cast<QComboBox*>(font_)})
    connect(box, &QComboBox::currentIndexChanged, this, draw);
  connect(font_size_, &QDoubleSpinBox::valueChanged, this, draw);
}

/// Another width brings what its venue prints.
void ExportDialog::follow_page() {
  const FigureStyle& style = page().style;
  font_size_->setValue(style.font_size);
  captions_->setCurrentIndex(int(style.captions));
  footer_->setChecked(style.footer);
  empty_->setChecked(style.empty_panels);
  rows_->setChecked(style.row_names);
}

FigureStyle ExportDialog::style() const {
  FigureStyle style = page().style;
  style.font = font_->currentFont().family().toStdString();
  style.font_size = font_size_->value();
  style.captions = Captions(captions_->currentIndex());
  style.dpi = resolution_->value();
  style.dark = look_->currentIndex() == 1;
  style.footer = footer_->isChecked();
  style.empty_panels = empty_->isChecked();
  style.row_names = rows_->isChecked();
  style.letters = letters_->isChecked();
  return style;
}

void ExportDialog::keep() const {
  QSettings settings;
  settings.beginGroup("export");
  settings.setValue("font", font_->currentFont().family());
  settings.setValue("font_size", font_size_->value());
  settings.setValue("resolution", resolution_->value());
  settings.setValue("captions", captions_->currentIndex());
  for (const QComboBox* box : {width_, look_})
    settings.setValue(box->objectName(), box->currentText());
  for (const QCheckBox* box : {footer_, empty_, rows_, letters_, session_})
    settings.setValue(box->objectName(), box->isChecked());
}

void ExportDialog::take_kept() {
  QSettings settings;
  settings.beginGroup("export");
  width_->setCurrentText(settings.value(width_->objectName()).toString());
  follow_page();
  if (settings.contains("captions")) captions_->setCurrentIndex(int(kept_captions()));
  look_->setCurrentText(settings.value(look_->objectName()).toString());
  font_->setCurrentFont(QFont(settings.value("font", to_qt(FigureStyle{}.font)).toString()));
  font_size_->setValue(settings.value("font_size", font_size_->value()).toDouble());
  resolution_->setValue(settings.value("resolution", resolution_->value()).toInt());
  for (QCheckBox* box : {footer_, empty_, rows_, letters_, session_})
    box->setChecked(settings.value(box->objectName(), box->isChecked()).toBool());
}

}  // namespace

Captions kept_captions() {
  const int kept = QSettings().value("export/captions", int(Captions::line)).toInt();
  return Captions(std::clamp(kept, int(Captions::none), int(Captions::full)));
}

std::optional<Export> ask_export(QWidget& parent, const ExportQuestion& question) {
  ExportDialog dialog(&parent, question);
  if (dialog.exec() != QDialog::Accepted) return {};
  dialog.keep();
  const QString path =
      ask_new_file(parent, question.title, question.proposed,
                   {"PDF (*.pdf)", "SVG (*.svg)", "PNG (*.png)", "PGF for LaTeX (*.pgf)"});
  if (path.isEmpty()) return {};
  return Export{path, dialog.style(), dialog.carries_session()};
}

}  // namespace fovea
