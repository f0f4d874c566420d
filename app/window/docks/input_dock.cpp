#include "window/docks/input_dock.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include "window/widgets/theme.h"

namespace fovea {
namespace {

QString shape_text(const char* name, const HeadTensor& t) {
  return QString("%1 [%2, %3, %4] %5")
      .arg(name)
      .arg(t.heads)
      .arg(t.rows)
      .arg(t.cols)
      .arg(QString::fromStdString(to_text(t.type)).toUpper());
}

QString facts_of(const Source& source) {
  const Layer& layer = source.layers.front();
  QStringList lines;
  lines << QString::fromStdString(source.kind) +
               (source.layers.size() > 1 ? QString(", %1 layers").arg(source.layers.size()) : "");
  if (layer.has_qkv()) {
    lines << shape_text("q", layer.q);
    if (layer.k.heads != layer.q.heads || layer.v.cols != layer.q.cols)
      lines << shape_text("k", layer.k) << shape_text("v", layer.v);
    else
      lines.back().replace(0, 1, "q k v");
  } else {
    lines << shape_text("attention", layer.attention);
  }
  if (source.sequence.grid)
    lines << QString("image grid %1 × %2")
                 .arg(source.sequence.grid->rows)
                 .arg(source.sequence.grid->cols);
  else if (!source.sequence.tokens.empty())
    lines << QString("%1 tokens").arg(source.sequence.tokens.size());
  if (!source.layout.empty()) lines << "layout " + QString::fromStdString(source.layout);
  return lines.join("\n");
}

}  // namespace

InputDock::InputDock(Study& study, QWidget* parent) : QWidget(parent), study_(study) {
  setObjectName("dock_page");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(12, rhythm, 12, 12);
  column->setSpacing(rhythm);
  column->addWidget(name_ = new QLabel("Nothing is open", this));
  name_->setProperty("style", "link");
  name_->setWordWrap(true);
  column->addWidget(facts_ = make_note({}));
  column->addWidget(content_ = make_note({}));
  column->addWidget(warning_ = make_note({}));
  warning_->setProperty("style", "warning");
  make_patch_chooser(column);
  make_head_chooser(column);
  column->addWidget(sequence_heading_ = make_heading("Tokens"));
  column->addWidget(query_note_ = make_note({}));
  column->addWidget(sequence_ = new SequenceView(study, this));
  column->addStretch(1);
  connect(sequence_, &SequenceView::query_hovered, this, &InputDock::query_hovered);
  connect(sequence_, &SequenceView::query_chosen, this, &InputDock::query_chosen);
  connect(sequence_, &SequenceView::query_stepped, this, &InputDock::query_stepped);
}

void InputDock::make_head_chooser(QVBoxLayout* column) {
  chooser_ = new QWidget(this);
  auto* box = new QVBoxLayout(chooser_);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(rhythm);
  box->addWidget(make_heading("Heads"));
  auto* row = new QHBoxLayout;
  const auto add = [&](const QString& text, QWidget* field, int stretch) {
    auto* label = new QLabel(text, this);
    label->setBuddy(field);
    field->setAccessibleName(QString(text).remove('&'));
    row->addWidget(label);
    row->addWidget(field, stretch);
  };
  add("&Layer", layer_ = new QComboBox(this), 1);
  add("&Head", head_ = new QSpinBox(this), 0);
  box->addLayout(row);
  row = new QHBoxLayout;
  add("S&ort by", order_ = new QComboBox(this), 1);
  order_->setObjectName("head_order");
  order_->addItems({"index", "output error", "entropy", "density"});
  box->addLayout(row);
  box->addWidget(all_layers_ = new QCheckBox("All la&yers", this));
  all_layers_->setObjectName("all_layers");
  all_layers_->setToolTip("Show and sort the heads of every layer, named layer·head");
  connect(all_layers_, &QCheckBox::toggled, this, &InputDock::refresh);
  box->addWidget(gallery_ = new HeadGallery(study_, this));
  column->addWidget(chooser_);
  connect(layer_, &QComboBox::activated, this,
          [this](int layer) { emit head_requested(layer, 0); });
  connect(head_, &QSpinBox::valueChanged, this,
          [this](int head) { emit head_requested(study_.session().layer, head); });
  connect(order_, &QComboBox::activated, this,
          [this](int order) { gallery_->set_order(static_cast<HeadGallery::Order>(order)); });
  connect(gallery_, &HeadGallery::head_chosen, this, &InputDock::head_requested);
}

void InputDock::make_patch_chooser(QVBoxLayout* column) {
  constexpr int largest = 64;
  patch_row_ = new QWidget(this);
  auto* row = new QHBoxLayout(patch_row_);
  row->setContentsMargins(0, 0, 0, 0);
  auto* label = new QLabel("&Patch", this);
  patch_ = new QSpinBox(this);
  patch_->setObjectName("patch");
  patch_->setAccessibleName("Patch");
  patch_->setToolTip("Side of the squares that are one token each; 1: every pixel is a token");
  patch_->setRange(1, largest);
  patch_->setSuffix(" px");
  patch_->setKeyboardTracking(false);
  label->setBuddy(patch_);
  row->addWidget(label, 1);
  row->addWidget(patch_);
  column->addWidget(patch_row_);
  patch_row_->hide();
  connect(patch_, &QSpinBox::valueChanged, this, &InputDock::patch_requested);
}

void InputDock::source_opened() {
  const auto source = study_.source();
  const QString path = QString::fromStdString(source->path);
  name_->setText(path.startsWith("synthetic:") ? path : QFileInfo(path).fileName());
  name_->setToolTip(path);
  facts_->setText(facts_of(*source));
  content_->setText(QString::fromStdString(source->content));
  content_->setVisible(!source->content.empty());
  QStringList warnings;
  if (source->layout_guessed)
    warnings << "⚠ Layout guessed as " + QString::fromStdString(source->layout) +
                    ": check it before trusting anything.";
  for (const auto& note : source->notes) warnings << QString::fromStdString(note);
  warning_->setText(warnings.join("\n"));
  warning_->setVisible(!warnings.isEmpty());
  const QSignalBlocker quiet(layer_);
  layer_->clear();
  for (std::size_t l = 0; l < source->layers.size(); ++l) {
    const QString layer = QString::fromStdString(source->layers[l].name);
    layer_->addItem(layer.isEmpty() ? QString::number(l) : layer);
  }
  all_layers_->setVisible(source->layers.size() > 1);
  chooser_->setVisible(source->layers.size() > 1 || source->layers.front().heads() > 1);
  patch_row_->setVisible(source->kind == "image");
  sequence_->set_source(source);
  sequence_heading_->setText(sequence_->shows_image() ? "Image" : "Tokens");
  refresh();
}

void InputDock::refresh() {
  const auto source = study_.source();
  if (!source) return;
  const Session& session = study_.session();
  const QSignalBlocker quiet_layer(layer_), quiet_head(head_), quiet_patch(patch_);
  if (patch_->value() != session.patch) patch_->setValue(session.patch);
  layer_->setCurrentIndex(int(session.layer));
  head_->setRange(0, int(source->layers[std::size_t(session.layer)].heads()) - 1);
  if (head_->value() != int(session.head)) head_->setValue(int(session.head));
  sequence_->set_length(study_.length());
  gallery_->set_layer(all_layers_->isChecked() ? std::nullopt : std::optional(session.layer));
}

void InputDock::show_row(std::shared_ptr<const RowReading> row) {
  sequence_->set_row(row);
  if (!row || !study_.source()) return;
  const auto& session = study_.session();
  const auto column = std::size_t(std::max(0, study_.selected_column()));
  const QString variant =
      column < session.columns.size()
          ? QString::fromStdString(find_variant(session.columns[column].variant).label)
          : "";
  const QString index = QString::number(row->query);
  const QString label = QString::fromStdString(study_.source()->sequence.label(row->query));
  query_note_->setText(
      QString("shaded by the attention of query %1, %2")
          .arg(label == index ? index : index + " “" + label.left(24) + "”", variant));
}

}  // namespace fovea
