#include "window/view_bar.h"

#include <QActionGroup>
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QSignalBlocker>
#include <QToolBar>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "drawing/colormap.h"
#include "window/dialogs/keys_dialog.h"
#include "window/main_window.h"
#include "window/widgets/slider.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

// As short as possible: the bar must fit a narrow screen.
QString power_text(double value) {
  return value < 0.01 ? QString::number(value, 'e', 0).replace("e-0", "e−") : number_text(value, 2);
}

/// Makes one entry of the menu checked at a time; choosing it again leaves it checked.
void make_exclusive(QMenu& menu) {
  auto* group = new QActionGroup(&menu);
  for (QAction* action : menu.actions()) group->addAction(action)->setCheckable(true);
}

/// Checks an entry; -1 for none.
void check_entry(const QMenu& menu, int index) {
  const QList<QAction*> actions = menu.actions();
  for (int i = 0; i < actions.size(); ++i) actions[i]->setChecked(i == index);
}

/// The words of a field of the bar.
struct Words {
  QString name, menu, tip;       // in the bar; in the menu, with the letter that chooses it
  std::optional<View> row = {};  // without a row of this view the field changes nothing
};

template <class T>
struct Choice {
  T value;
  QString brief, words = {};  // in the bar; in the menu, if it differs
};

template <class T>
Choice<T> choice(T value, const QString& brief) {
  return {value, brief, to_qt(label_of(value))};
}

QString why_unused(const Words& words, const CanvasModel& model) {
  if (words.row && std::ranges::count(model.views, *words.row) == 0)
    return "There is no " + to_qt(to_text(*words.row)) + " row: choose View > Rows";
  if (words.name == "Floor" && model.settings.norm != Norm::log)
    return "The norm is not logarithmic";
  if (words.name == "Pool" && std::ranges::count(model.views, View::heatmap) == 0 &&
      std::ranges::count(model.views, View::error) == 0)
    return "There is no heatmap row and no error row: choose View > Rows";
  return {};
}

class ViewBar : public QToolBar {
 public:
  ViewBar(MainWindow& window, QMenu& menu);

 private:
  void add_fields();

  template <class T>
  void request(T ViewSettings::*member, const T& value) {
    editor_.change_settings([&](ViewSettings& settings) { settings.*member = value; });
  }

  void add_label(const Words& words) {
    auto* label = new QLabel(words.name);
    label->setProperty("style", "note");
    label->setContentsMargins(3, 0, 2, 0);
    label->setToolTip(words.tip);
    addWidget(label);
  }

  void add_field(const Words& words, QWidget* field,
                 std::function<void(const ViewSettings&)> show) {
    field->setAccessibleName(words.name);
    field->setToolTip(words.tip);
    field->setObjectName("view_" + words.name);
    addWidget(field);
    show({});
    connect(&study_, &Study::session_changed, field,
            [this, show = std::move(show)] { show(study_.session().settings); });
    connect(&study_, &Study::model_changed, field, [words, field](const auto& model) {
      const QString why = why_unused(words, *model);
      field->setEnabled(why.isEmpty());
      field->setToolTip(why.isEmpty() ? words.tip : words.tip + ". " + why);
    });
  }

  template <class T>
  void add_choice(const Words& words, T ViewSettings::*member,
                  const std::vector<Choice<T>>& choices) {
    auto* box = new QComboBox;
    QMenu* menu = menu_.addMenu(words.menu);
    for (const auto& [value, brief, text] : choices) {
      box->addItem(brief);
      menu->addAction(text.isEmpty() ? brief : text, this,
                      [this, member, value = value] { request(member, value); });
    }
    make_exclusive(*menu);
    connect(box, &QComboBox::activated, this,
            [this, member, choices](int i) { request(member, choices[i].value); });
    add_label(words);
    add_field(words, box, [box, menu, member, choices](const ViewSettings& settings) {
      const auto chosen = std::ranges::find(choices, settings.*member, &Choice<T>::value);
      box->setCurrentIndex(chosen == choices.end() ? -1 : int(chosen - choices.begin()));
      check_entry(*menu, box->currentIndex());
    });
  }

  template <class T>
  void add_switch(const Words& words, T ViewSettings::*member, const Choice<T>& off,
                  const Choice<T>& on) {
    auto* button = new QToolButton;
    button->setCheckable(true);
    auto* action = new QAction(words.menu, parentWidget());
    menu_.addAction(action);
    action->setCheckable(true);
    action->setObjectName("switch_" + words.name);
    set_standard_key(*action, {});
    const auto choose = [this, member, off, on](bool is_on) {
      request(member, is_on ? on.value : off.value);
    };
    connect(button, &QToolButton::toggled, this, choose);
    connect(action, &QAction::triggered, this, choose);
    // A field without a label, since its text says what it is.
    add_field(words, button, [button, action, member, off, on](const ViewSettings& settings) {
      const bool is_on = settings.*member == on.value;
      const QSignalBlocker quiet(button);
      button->setChecked(is_on);
      button->setText(is_on ? on.brief : off.brief);
      action->setChecked(is_on);
    });
  }

  /// A power of ten whose exponent is one of these tenths.
  void add_power(const Words& words, double ViewSettings::*member, IndexRange tenths) {
    auto* slider = new Slider;
    slider->setRange(int(tenths.begin), int(tenths.end) - 1);
    slider->setPageStep(10);
    slider->setFixedWidth(40);
    QMenu* menu = menu_.addMenu(words.menu);
    for (int i = 1; - 10 * i >= tenths.begin; ++i)
      menu->addAction(power_text(std::pow(10.0, -i)), this,
                      [this, member, i] { request(member, std::pow(10.0, -i)); });
    make_exclusive(*menu);
    auto* number = new QLabel;
    number->setMinimumWidth(fontMetrics().horizontalAdvance(power_text(5e-8)) + 6);
    number->setContentsMargins(4, 0, 0, 0);
    connect(slider, &QSlider::valueChanged, this,
            [this, member](int exponent) { request(member, std::pow(10.0, exponent / 10.0)); });
    connect(slider, &Slider::reset_requested, this,
            [this, member] { request(member, ViewSettings{}.*member); });
    add_label(words);
    add_field(words, slider, [slider, number, menu, member](const ViewSettings& settings) {
      const QSignalBlocker quiet(slider);
      const int exponent = int(std::lround(10 * std::log10(settings.*member)));
      if (!slider->isSliderDown()) slider->setValue(exponent);
      check_entry(*menu, exponent % 10 == 0 ? -exponent / 10 - 1 : -1);
      number->setText(power_text(settings.*member));
    });
    addWidget(number);
  }

  Study& study_;
  SessionEditor& editor_;
  QMenu& menu_;
};

ViewBar::ViewBar(MainWindow& window, QMenu& menu)
    : QToolBar("View settings", &window),
      study_(window.study()),
      editor_(window.editor()),
      menu_(menu) {
  setObjectName("view_bar");
  setMovable(false);
  setEnabled(false);  // until there is something to see
  connect(&study_, &Study::opened, this, [this] { setEnabled(true); });
  // This button shows the fields that do not fit. Its own arrow is invisible in a dark theme.
  if (auto* more = findChild<QToolButton*>("qt_toolbar_ext_button")) {
    more->setToolButtonStyle(Qt::ToolButtonTextOnly);
    more->setText("»");
    more->setToolTip("More settings");
    more->setAccessibleName(more->toolTip());
  }
  add_fields();
}

void ViewBar::add_fields() {
  using S = ViewSettings;
  std::vector<Choice<std::string>> maps;
  for (const auto& id : colormap_ids())
    if (colormap_for(Palette::sequential, id).id == id) maps.push_back({id, to_qt(id)});
  std::vector<Choice<ErrorKind>> errors;
  for (const ErrorKind kind : all_error_kinds())
    errors.push_back(choice(kind, to_qt(to_text(kind))));
  std::vector<Choice<Index>> sizes;
  for (Index size = 2; size <= 128; size *= 2) sizes.push_back({size, QString::number(size)});

  add_choice(
      {"Norm", "&Norm", "How weights become colours"}, &S::norm,
      {choice(Norm::log, "log"), choice(Norm::linear, "linear"), choice(Norm::row_max, "per row")});
  add_power({"Floor", "Logarithmic &floor", "Where a logarithmic scale begins: a share of its top"},
            &S::log_floor, {-80, 0});
  add_choice({"Map", "&Colour map", "The colours of weights"}, &S::colormap, maps);
  add_switch(
      {"Range", "&Shared range", "One colour range for all panels of a row, or one for each panel"},
      &S::shared_range, {false, "own ranges"}, {true, "shared range"});
  addSeparator();
  add_choice({"Error", "&Error", "What the error row shows", View::error}, &S::error, errors);
  add_choice({"Pool", "&Pooling",
              "What a pixel of a heatmap or an error map shows of several entries that it covers: "
              "the largest (of magnitude, where they have signs) or the mean. Of fewer than two "
              "each way it shows the area average. Colour bars say how a row is pooled"},
             &S::pool,
             {{Pool::Kind::max, "max", "maximum of a pixel's entries"},
              {Pool::Kind::mean, "mean", "mean of a pixel's entries"}});
  add_choice({"Tiles", "Mas&k blocks", "Side of the mask's blocks, in tokens", View::mask},
             &S::mask_block, sizes);
  addSeparator();
  add_choice({"Rank of", "Rank &of", "The matrix whose blocks' ranks are mapped", View::rank},
             &S::rank_of,
             {{RankSubject::attention, "P", "attention P"},
              {RankSubject::unnormalised, "exp S", "unnormalised attention exp S"},
              {RankSubject::logits, "S", "logits S"},
              {RankSubject::error, "error", "error P̃ − P"}});
  add_power({"ε", "Rank &tolerance",
             "Rank tolerance: the tail of singular values that a block may lose", View::rank},
            &S::rank_tolerance, {-60, 1});
  add_choice({"Blocks", "Rank &blocks", "How the rank map is divided into blocks", View::rank},
             &S::rank_partition,
             {{Partition::hierarchy, "hierarchy"}, {Partition::uniform, "uniform"}});
  add_choice(
      {"Leaf", "Rank leaf si&ze", "Side of the rank map's smallest blocks, in tokens", View::rank},
      &S::rank_leaf, sizes);
  add_switch({"Colour", "Ranks coloured by stora&ge",
              "Whether a rank map's colours show ranks or the entries that are stored", View::rank},
             &S::rank_colour, {RankColour::rank, to_qt(label_of(RankColour::rank))},
             {RankColour::storage, to_qt(label_of(RankColour::storage))});
}

}  // namespace

void make_view_bar(MainWindow& window, QMenu& menu) {
  window.addToolBar(new ViewBar(window, menu));
}

}  // namespace fovea
