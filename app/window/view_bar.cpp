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
#include "views/views.h"
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

/// The words of a field of the bar, and why it changes nothing now; empty if it does.
struct Words {
  QString name, menu, tip;  // in the bar; in the menu, with the letter that chooses it
  std::function<QString(const CanvasModel&)> why_unused = [](const CanvasModel&) {
    return QString();
  };
  bool says_itself = false;  // what is chosen says what it is: "by storage"
};

template <class T>
struct Choice {
  T value;
  QString brief, words = {};  // in the bar; in the menu, if it differs
};

Choice<Norm> choice(Norm norm, const QString& brief) {
  return {norm, brief, to_qt(label_of(norm))};
}

QString why_no_floor(const CanvasModel& model) {
  return model.settings.norm == Norm::log ? "" : "The norm is not logarithmic";
}

QString why_no_pool(const CanvasModel& model) {
  std::vector<View> pooled = all_views();
  std::erase_if(pooled, [](View v) { return !v->uses_pooling; });
  const bool any = std::ranges::any_of(model.views, [](View v) { return v->uses_pooling; });
  return any ? "" : "No row is pooled (" + to_qt(names_of(pooled)) + "): choose View > Rows";
}

/// How a field of type T is read from the settings and written there.
template <class T>
struct Place {
  std::function<T(const ViewSettings&)> read;
  std::function<void(ViewSettings&, const T&)> write;
};

template <class T>
Place<T> place_of(T ViewSettings::*member) {
  return {[member](const ViewSettings& s) { return s.*member; },
          [member](ViewSettings& s, const T& value) { s.*member = value; }};
}

/// A setting of one view, which is in the table for as long as the program runs.
template <class T>
Place<T> place_of(const ViewField& field) {
  return {[&field](const ViewSettings& s) { return std::get<T>(value_of(s, field)); },
          [&field](ViewSettings& s, const T& value) { set_value(s, field, value); }};
}

class ViewBar : public QToolBar {
 public:
  ViewBar(MainWindow& window, QMenu& menu);

 private:
  void add_fields();

  void add_own_field(View view, const ViewField& field);

  template <class T>
  void request(const Place<T>& place, const T& value) {
    editor_.change_settings([&](ViewSettings& settings) { place.write(settings, value); });
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
      const QString why = words.why_unused(*model);
      field->setEnabled(why.isEmpty());
      field->setToolTip(why.isEmpty() ? words.tip : words.tip + ". " + why);
    });
  }

  template <class T>
  void add_choice(const Words& words, const Place<T>& place,
                  const std::vector<Choice<T>>& choices) {
    auto* box = new QComboBox;
    QMenu* menu = menu_.addMenu(words.menu);
    for (const auto& [value, brief, text] : choices) {
      box->addItem(brief);
      menu->addAction(text.isEmpty() ? brief : text, this,
                      [this, place, value = value] { request(place, value); });
    }
    make_exclusive(*menu);
    connect(box, &QComboBox::activated, this,
            [this, place, choices](int i) { request(place, choices[i].value); });
    if (!words.says_itself) add_label(words);
    add_field(words, box, [box, menu, place, choices](const ViewSettings& settings) {
      const auto chosen = std::ranges::find(choices, place.read(settings), &Choice<T>::value);
      box->setCurrentIndex(chosen == choices.end() ? -1 : int(chosen - choices.begin()));
      check_entry(*menu, box->currentIndex());
    });
  }

  void add_switch(const Words& words, bool ViewSettings::*member, const QString& off,
                  const QString& on) {
    auto* button = new QToolButton;
    button->setCheckable(true);
    auto* action = new QAction(words.menu, parentWidget());
    menu_.addAction(action);
    action->setCheckable(true);
    action->setObjectName("switch_" + words.name);
    set_standard_key(*action, {});
    const auto choose = [this, member](bool is_on) { request(place_of(member), is_on); };
    connect(button, &QToolButton::toggled, this, choose);
    connect(action, &QAction::triggered, this, choose);
    // A field without a label, since its text says what it is.
    add_field(words, button, [button, action, member, off, on](const ViewSettings& settings) {
      const QSignalBlocker quiet(button);
      button->setChecked(settings.*member);
      button->setText(settings.*member ? on : off);
      action->setChecked(settings.*member);
    });
  }

  /// A power of ten whose exponent is one of these tenths.
  void add_power(const Words& words, const Place<double>& place, IndexRange tenths) {
    auto* slider = new Slider;
    slider->setRange(int(tenths.begin), int(tenths.end) - 1);
    slider->setPageStep(10);
    slider->setFixedWidth(40);
    QMenu* menu = menu_.addMenu(words.menu);
    for (int i = 1; - 10 * i >= tenths.begin; ++i)
      menu->addAction(power_text(std::pow(10.0, -i)), this,
                      [this, place, i] { request(place, std::pow(10.0, -i)); });
    make_exclusive(*menu);
    auto* number = new QLabel;
    number->setMinimumWidth(fontMetrics().horizontalAdvance(power_text(5e-8)) + 6);
    number->setContentsMargins(4, 0, 0, 0);
    connect(slider, &QSlider::valueChanged, this,
            [this, place](int exponent) { request(place, std::pow(10.0, exponent / 10.0)); });
    connect(slider, &Slider::reset_requested, this,
            [this, place] { request(place, place.read({})); });
    add_label(words);
    add_field(words, slider, [slider, number, menu, place](const ViewSettings& settings) {
      const QSignalBlocker quiet(slider);
      const int exponent = int(std::lround(10 * std::log10(place.read(settings))));
      if (!slider->isSliderDown()) slider->setValue(exponent);
      check_entry(*menu, exponent % 10 == 0 ? -exponent / 10 - 1 : -1);
      number->setText(power_text(place.read(settings)));
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
  add_choice(
      {"Norm", "&Norm", "How weights become colours"}, place_of(&S::norm),
      {choice(Norm::log, "log"), choice(Norm::linear, "linear"), choice(Norm::row_max, "per row")});
  add_power({"Floor", "Logarithmic &floor", "Where a logarithmic scale begins: a share of its top",
             why_no_floor},
            place_of(&S::log_floor), {-80, 0});
  add_choice({"Map", "&Colour map", "The colours of weights"}, place_of(&S::colormap), maps);
  add_switch(
      {"Range", "&Shared range", "One colour range for all panels of a row, or one for each panel"},
      &S::shared_range, "own ranges", "shared range");
  add_choice(
      {"Pool", "&Pooling",
       "What a pixel of a heatmap or an error map shows of several entries that it covers: "
       "the mean, with dots at large entries that it hides, or the largest (of magnitude, where "
       "they have signs). Of fewer than two "
       "each way it shows the area average. Colour bars say how a row is pooled",
       why_no_pool},
      place_of(&S::pool),
      {{Pool::Kind::mean, "mean", "mean of a pixel's entries, dots at the largest"},
       {Pool::Kind::max, "max", "maximum of a pixel's entries"}});
  addSeparator();
  for (const auto& [view, field] : view_fields()) add_own_field(view, *field);
}

/// A choice by its words, a size as a power of two, an amount as a power of ten up to 1 if its axis
/// is logarithmic, else as one of nine values of its range. Others are for files and commands.
void ViewBar::add_own_field(View view, const ViewField& own) {
  const Field& field = own.field;
  const Words words{to_qt(field.label), to_qt(own.menu), to_qt(field.meaning),
                    [view](const CanvasModel& model) {
                      return std::ranges::count(model.views, view) > 0
                                 ? QString()
                                 : "There is no " + to_qt(view->id) + " row: choose View > Rows";
                    },
                    own.of_colours};
  if (!field.choices.empty()) {
    std::vector<Choice<std::string>> choices;
    for (std::size_t c = 0; c < field.choices.size(); ++c)
      choices.push_back({field.choices[c], to_qt(own.words[c].brief), to_qt(own.words[c].full)});
    add_choice(words, place_of<std::string>(own), choices);
  } else if (std::holds_alternative<double>(field.standard) && field.axis == Axis::log2) {
    add_power(words, place_of<double>(own), {-60, 1});
  } else if (std::holds_alternative<double>(field.standard)) {
    std::vector<Choice<double>> values;
    for (int step = 0; step <= 8; ++step) {
      const double value = field.min + step * (field.max - field.min) / 8;
      values.push_back({value, number_text(value, 3)});
    }
    add_choice(words, place_of<double>(own), values);
  } else if (std::holds_alternative<std::int64_t>(field.standard)) {
    std::vector<Choice<std::int64_t>> sizes;
    for (std::int64_t size = 1; size <= 128; size *= 2)
      if (double(size) >= std::max(2.0, field.min) && double(size) <= field.max)
        sizes.push_back({size, QString::number(size)});
    add_choice(words, place_of<std::int64_t>(own), sizes);
  }
}

}  // namespace

void make_view_bar(MainWindow& window, QMenu& menu) {
  window.addToolBar(new ViewBar(window, menu));
}

}  // namespace fovea
