#include "window/widgets/view_bar.h"

#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "drawing/colormap.h"

namespace fovea {
namespace {

std::vector<std::pair<QString, std::string>> colour_maps() {
  std::vector<std::pair<QString, std::string>> maps;
  for (const auto& id : colormap_ids())
    if (colormap_for(Palette::sequential, id).id == id)
      maps.emplace_back(QString::fromStdString(id), id);
  return maps;
}

}  // namespace

ViewBar::ViewBar(QWidget* parent) : QToolBar("View settings", parent) {
  setObjectName("view_bar");
  setMovable(false);
  // What does not fit is behind this button, whose own arrow a dark theme hides.
  if (auto* more = findChild<QToolButton*>("qt_toolbar_ext_button")) {
    more->setToolButtonStyle(Qt::ToolButtonTextOnly);
    more->setText("»");
    more->setToolTip("More settings");
    more->setAccessibleName(more->toolTip());
  }
  add_choice<Norm>("Norm", "How weights become colours",
                   {{"log", Norm::log}, {"linear", Norm::linear}, {"per row", Norm::row_max}},
                   &ViewSettings::norm);
  add_power("Floor", "Where a logarithmic scale begins, as part of its top", {-80, 0},
            &ViewSettings::log_floor);
  add_choice<std::string>("Map", "Colours of weights", colour_maps(), &ViewSettings::colormap);
  add_switch(
      "Range", "One colour range for all panels of a row, or each its own", "shared range",
      "own ranges", [](const ViewSettings& s) { return s.shared_range; },
      [](ViewSettings& s, bool on) { s.shared_range = on; });
  addSeparator();
  add_choice<ErrorKind>("Error", "What the error row shows (E)",
                        {{"signed", ErrorKind::signed_difference},
                         {"absolute", ErrorKind::absolute},
                         {"squared", ErrorKind::squared},
                         {"relative", ErrorKind::relative},
                         {"log10", ErrorKind::log10_absolute}},
                        &ViewSettings::error);
  add_choice<Pool::Kind>("Pool", "Where a pixel covers several entries",
                         {{"max", Pool::Kind::max}, {"mean", Pool::Kind::mean}},
                         &ViewSettings::pool);
  add_choice<Index>(
      "Tiles", "Side of the mask's blocks, tokens",
      {{"2", 2}, {"4", 4}, {"8", 8}, {"16", 16}, {"32", 32}, {"64", 64}, {"128", 128}},
      &ViewSettings::mask_block);
  addSeparator();
  add_choice<RankSubject>("Rank of", "The matrix whose blocks' ranks are mapped",
                          {{"P", RankSubject::attention},
                           {"exp S", RankSubject::unnormalised},
                           {"S", RankSubject::logits},
                           {"error", RankSubject::error}},
                          &ViewSettings::rank_of);
  add_power("ε", "Rank tolerance: the tail of singular values a block may lose", {-60, 1},
            &ViewSettings::rank_tolerance);
  add_choice<Partition>("Blocks", "How the rank map is cut",
                        {{"hierarchy", Partition::hierarchy}, {"uniform", Partition::uniform}},
                        &ViewSettings::rank_partition);
  add_choice<Index>(
      "Leaf", "Side of the rank map's smallest blocks, tokens",
      {{"2", 2}, {"4", 4}, {"8", 8}, {"16", 16}, {"32", 32}, {"64", 64}, {"128", 128}},
      &ViewSettings::rank_leaf);
  add_switch(
      "Colour", "Whether a rank map's colours show ranks or the entries that are stored",
      "by storage", "by rank",
      [](const ViewSettings& s) { return s.rank_colour == RankColour::storage; },
      [](ViewSettings& s, bool on) {
        s.rank_colour = on ? RankColour::storage : RankColour::rank;
      });
  show_settings({});
}

void ViewBar::show_settings(const ViewSettings& settings) {
  settings_ = settings;
  for (const auto& refresh : refreshers_) refresh();
}

void ViewBar::set_use(const char* name, bool used, const char* why_not) {
  auto* field = findChild<QWidget*>(QString("view_") + name);
  field->setEnabled(used);
  field->setToolTip(used ? tips_[name] : tips_[name] + ". " + why_not);
}

void ViewBar::show_use(const CanvasModel& model) {
  const auto shows = [&](View view) {
    return std::ranges::find(model.views, view) != model.views.end();
  };
  bool pooled = false;
  for (const auto& row : model.cells)
    for (const CanvasCell& cell : row)
      if (const auto* raster = cell.panel ? std::get_if<Raster>(&cell.panel->body) : nullptr)
        pooled |= raster->pooled != Pool::Kind::none;
  set_use("Floor", model.settings.norm == Norm::log, "The norm is not logarithmic");
  set_use("Error", shows(View::error), "There is no error row: View > Rows");
  set_use("Pool", pooled, "Here no pixel does");
  set_use("Tiles", shows(View::mask), "There is no mask row: View > Rows");
  for (const char* name : {"Rank of", "ε", "Blocks", "Leaf", "Colour"})
    set_use(name, shows(View::rank), "There is no rank row: View > Rows");
}

void ViewBar::request_settings() {
  for (const auto& refresh : refreshers_) refresh();
  emit settings_requested(settings_);
}

void ViewBar::add_label(const QString& text, QWidget* field, const QString& tip) {
  auto* label = new QLabel(text, this);
  label->setProperty("style", "note");
  label->setContentsMargins(3, 0, 2, 0);
  label->setToolTip(tip);
  addWidget(label);
  add_field(text, field, tip);
}

void ViewBar::add_field(const QString& text, QWidget* field, const QString& tip) {
  field->setAccessibleName(text);
  field->setToolTip(tips_[text] = tip);
  field->setObjectName("view_" + text);
  addWidget(field);
}

template <class T>
void ViewBar::add_choice(const QString& name, const QString& tip,
                         const std::vector<std::pair<QString, T>>& choices,
                         T ViewSettings::*member) {
  auto* box = new QComboBox(this);
  for (const auto& [text, value] : choices) box->addItem(text);
  add_label(name, box, tip);
  connect(box, &QComboBox::activated, this, [this, choices, member](int index) {
    settings_.*member = choices[static_cast<std::size_t>(index)].second;
    request_settings();
  });
  refreshers_.push_back([this, box, choices, member] {
    const auto it = std::ranges::find(choices, settings_.*member, &std::pair<QString, T>::second);
    box->setCurrentIndex(it == choices.end() ? -1 : int(it - choices.begin()));
  });
}

void ViewBar::add_power(const QString& name, const QString& tip, IndexRange tenths,
                        double ViewSettings::*member) {
  auto* slider = new QSlider(Qt::Horizontal, this);
  slider->setRange(int(tenths.begin), int(tenths.end) - 1);
  slider->setPageStep(10);
  slider->setFixedWidth(40);
  add_label(name, slider, tip);
  auto* number = new QLabel(this);
  number->setMinimumWidth(fontMetrics().horizontalAdvance("5e-08") + 6);
  number->setContentsMargins(4, 0, 0, 0);
  addWidget(number);
  connect(slider, &QSlider::valueChanged, this, [this, member](int exponent) {
    settings_.*member = std::pow(10.0, exponent / 10.0);
    request_settings();
  });
  refreshers_.push_back([this, slider, number, member] {
    const QSignalBlocker quiet(slider);
    if (!slider->isSliderDown())
      slider->setValue(int(std::lround(10 * std::log10(settings_.*member))));
    const double value = settings_.*member;
    number->setText(value < 0.01 ? QString::number(value, 'e', 0).replace("e-0", "e−")
                                 : QString::number(value, 'g', 2));
  });
}

void ViewBar::add_switch(const QString& name, const QString& tip, const QString& on,
                         const QString& off, bool (*get)(const ViewSettings&),
                         void (*set)(ViewSettings&, bool)) {
  auto* button = new QToolButton(this);
  button->setCheckable(true);
  add_field(name, button, tip);
  connect(button, &QToolButton::toggled, this, [this, set](bool is_on) {
    set(settings_, is_on);
    request_settings();
  });
  refreshers_.push_back([this, button, on, off, get] {
    const QSignalBlocker quiet(button);
    button->setChecked(get(settings_));
    button->setText(get(settings_) ? on : off);
  });
}

}  // namespace fovea
