#include "window/docks/head_chooser.h"

#include <QSettings>
#include <QSignalBlocker>

#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

constexpr Index most_letters = 9;  // of a layer's name beside the head

}  // namespace

HeadChooser::HeadChooser(Study& study, SessionEditor& editor) : study_(study), editor_(editor) {
  auto* column = make_inner<QVBoxLayout>(this);
  column->addWidget(make_heading("Heads"));
  column->addLayout(fields_ = make_inner<QVBoxLayout>());
  auto* layer = make_inner<QHBoxLayout>();
  add_field(*layer, "&Layer", layer_ = new QComboBox, 0, 1);
  auto* head = make_inner<QHBoxLayout>();
  add_field(*head, "&Head", head_ = new QSpinBox);
  fields_->addLayout(layer, 1);
  fields_->addLayout(head);
  column->addWidget(elsewhere_ = make_note("The pictures are in a window of their own."));
  elsewhere_->hide();
  column->addWidget(pictures_ = make_pictures());
  connect(layer_, &QComboBox::activated, this,
          [this](int layer) { editor_.choose_head(layer, 0); });
  connect(head_, &QSpinBox::valueChanged, this,
          [this](int head) { editor_.choose_head(study_.session().layer, head); });
}

HeadChooser::~HeadChooser() {
  if (window_) window_->disconnect(this);  // its end must not bring the pictures back
}

QWidget* HeadChooser::make_pictures() {
  auto* pictures = new QWidget;
  auto* column = make_inner<QVBoxLayout>(pictures);
  auto* row = make_inner<QHBoxLayout>();
  add_field(*row, "S&ort by", order_ = new QComboBox, 0, 1);
  constexpr int widest = 200;  // in a wide window
  order_->setMaximumWidth(widest);
  order_->setObjectName("head_order");
  for (const HeadOrder order : all_head_orders()) order_->addItem(to_qt(to_text(order)));
  row->addStretch();
  column->addLayout(row);
  row = make_inner<QHBoxLayout>();
  add_field(*row, "&Bars", bars_ = new QComboBox, 0, 1);
  bars_->setMaximumWidth(widest);
  bars_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  bars_->setMinimumContentsLength(10);  // the dock stays narrow
  bars_->setObjectName("head_bars");
  bars_->setToolTip("Draw a measure of each head as a bar over its picture");
  bars_->addItem("none");
  for (const HeadMeasure& measure : head_measures()) {
    bars_->addItem(to_qt(measure.label));
    bars_->setItemData(bars_->count() - 1, plain_tip(to_qt(measure.definition)), Qt::ToolTipRole);
  }
  row->addStretch();
  column->addLayout(row);
  row = make_inner<QHBoxLayout>();
  row->addWidget(all_layers_ = new QCheckBox("All la&yers"));
  all_layers_->setObjectName("all_layers");
  all_layers_->setToolTip(
      "Show the heads of every layer: a row for each layer, or sorted, named layer·head");
  row->addWidget(share_ = make_note(), 1);
  share_->setObjectName("head_share");
  share_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  row->addWidget(larger_ = new QToolButton);
  larger_->setObjectName("larger_heads");
  larger_->setText("Larger");
  larger_->setToolTip(
      "Show the heads in a window of their own. Here and there, Ctrl with the wheel, + and - zoom, "
      "and 0 shows all again.");
  column->addLayout(row);
  column->addWidget(gallery_ = new HeadGallery(study_, editor_), 1);
  connect(order_, &QComboBox::currentIndexChanged, gallery_,
          [this](int order) { gallery_->set_order(HeadOrder(order)); });
  connect(bars_, &QComboBox::currentIndexChanged, gallery_, [this](int place) {
    gallery_->set_bars(place == 0 ? std::nullopt : std::optional(std::size_t(place - 1)));
  });
  connect(all_layers_, &QCheckBox::toggled, this, &HeadChooser::refresh);
  connect(gallery_, &HeadGallery::filled, share_, &QLabel::setText);
  connect(larger_, &QToolButton::clicked, this, &HeadChooser::enlarge);
  return pictures;
}

void HeadChooser::set_source(const Source& source) {
  const QSignalBlocker quiet(layer_);
  layer_->clear();
  bool is_wide = false;  // as in "decoder.layer0": the dock has no room for the head beside it
  for (const Layer& layer : source.layers) {
    layer_->addItem(layer.name.empty() ? QString::number(layer_->count()) : to_qt(layer.name));
    is_wide |= std::ssize(layer.name) > most_letters;
  }
  fields_->setDirection(is_wide ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  const bool several = std::ssize(source.layers) + study_.layers_to_come() > 1;
  all_layers_->setVisible(several);
  const bool choice = several || source.layers.front().heads() > 1;
  if (!choice && window_) window_->close();
  setVisible(choice);
}

void HeadChooser::refresh() {
  const auto source = study_.source();
  if (!source) return;
  const Session& session = study_.session();
  const QSignalBlocker quiet_layer(layer_), quiet_head(head_);
  layer_->setCurrentIndex(int(session.layer));
  head_->setRange(0, int(source->layers[session.layer].heads()) - 1);
  head_->setValue(int(session.head));
  gallery_->set_layer(all_layers_->isChecked() ? std::nullopt : std::optional(session.layer));
}

void HeadChooser::enlarge() {
  if (!window_) {
    window_ = new QDialog(window());
    window_->setObjectName("heads_window");
    window_->setWindowTitle("Heads");
    new QVBoxLayout(window_);
    window_->resize(900, 900);
    window_->restoreGeometry(QSettings().value("heads/geometry").toByteArray());
    connect(window_, &QDialog::finished, this, &HeadChooser::come_back);
  }
  gallery_->leave_dock();
  window_->layout()->addWidget(pictures_);
  larger_->hide();
  elsewhere_->show();
  window_->show();
  gallery_->setFocus();
}

void HeadChooser::come_back() {
  QSettings().setValue("heads/geometry", window_->saveGeometry());
  elsewhere_->hide();
  larger_->show();
  layout()->addWidget(pictures_);
  pictures_->show();
}

}  // namespace fovea
