#include "window/setting_fields.h"

#include <QAction>
#include <QActionGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QSignalBlocker>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "drawing/colormap.h"
#include "study/session_editor.h"
#include "study/study.h"
#include "views/views.h"
#include "window/dialogs/keys_dialog.h"
#include "window/widgets/form.h"
#include "window/widgets/slider.h"
#include "window/widgets/text.h"

namespace fovea {

QWidget* SettingField::make_widget() {
  QWidget* field = make_bare_widget();
  field->setAccessibleName(words_.name);
  field->setToolTip(words_.tip);
  field->setObjectName("view_" + words_.name);
  const auto say_use = [words = words_, field](const std::shared_ptr<const CanvasModel>& model) {
    if (!model) return field->setEnabled(false);  // until there is something to see
    const QString why = words.why_unused(*model);
    field->setEnabled(why.isEmpty());
    field->setToolTip(why.isEmpty() ? words.tip : words.tip + ". " + why);
  };
  say_use(study_.model());
  QObject::connect(&study_, &Study::model_changed, field, say_use);
  return field;
}

void SettingField::change(const std::function<void(ViewSettings&)>& edit) {
  editor_.change_settings(edit);
}

void SettingField::follow(QObject& of, std::function<void(const ViewSettings&)> show) {
  show(study_.session().settings);
  QObject::connect(&study_, &Study::session_changed, &of,
                   [this, show = std::move(show)] { show(study_.session().settings); });
}

namespace {

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

template <class T>
struct Choice {
  T value;
  QString brief, words = {};  // in the field; in the menu, if it differs
};

template <class T>
class ChoiceField : public SettingField {
 public:
  ChoiceField(Words words, Place<T> place, std::vector<Choice<T>> choices, Study& study,
              SessionEditor& editor)
      : SettingField(std::move(words), study, editor),
        place_(std::move(place)),
        choices_(std::move(choices)) {}

  void add_to_menu(QMenu& menu) override {
    QMenu* own = menu.addMenu(words().menu);
    for (const auto& [value, brief, text] : choices_)
      own->addAction(text.isEmpty() ? brief : text, own, [this, value = value] { choose(value); });
    make_exclusive(*own);
    follow(*own, [this, own](const ViewSettings& settings) { check_entry(*own, at(settings)); });
  }

 protected:
  QWidget* make_bare_widget() override {
    auto* box = new QComboBox;
    for (const auto& choice : choices_) box->addItem(choice.brief);
    QObject::connect(box, &QComboBox::activated, box, [this](int i) { choose(choices_[i].value); });
    follow(*box, [this, box](const ViewSettings& settings) { box->setCurrentIndex(at(settings)); });
    return box;
  }

 private:
  int at(const ViewSettings& settings) const {
    const auto chosen = std::ranges::find(choices_, place_.read(settings), &Choice<T>::value);
    return chosen == choices_.end() ? -1 : int(chosen - choices_.begin());
  }
  void choose(const T& value) {
    change([&](ViewSettings& settings) { place_.write(settings, value); });
  }

  Place<T> place_;
  std::vector<Choice<T>> choices_;
};

class SwitchField : public SettingField {
 public:
  SwitchField(Words words, bool ViewSettings::*member, QString off, QString on, Study& study,
              SessionEditor& editor)
      : SettingField(std::move(words), study, editor),
        member_(member),
        off_(std::move(off)),
        on_(std::move(on)) {}

  bool names_itself() const override { return true; }

  void add_to_menu(QMenu& menu) override {
    auto* action = menu.addAction(words().menu);
    action->setCheckable(true);
    action->setObjectName("switch_" + words().name);
    set_standard_key(*action, {});
    QObject::connect(action, &QAction::triggered, action, [this](bool on) { choose(on); });
    follow(*action, [this, action](const ViewSettings& s) { action->setChecked(s.*member_); });
  }

 protected:
  QWidget* make_bare_widget() override {
    auto* button = new QToolButton;
    button->setCheckable(true);
    QObject::connect(button, &QToolButton::toggled, button, [this](bool on) { choose(on); });
    follow(*button, [this, button](const ViewSettings& settings) {
      const QSignalBlocker quiet(button);
      button->setChecked(settings.*member_);
      button->setText(settings.*member_ ? on_ : off_);
    });
    return button;
  }

 private:
  void choose(bool on) {
    change([&](ViewSettings& settings) { settings.*member_ = on; });
  }

  bool ViewSettings::*member_;
  QString off_, on_;
};

/// The slider of a power, which has its number beside it.
class PowerSlider : public QWidget {
 public:
  PowerSlider(int first, int last) : slider(new Slider), number(new QLabel) {
    auto* row = make_inner<QHBoxLayout>(this);
    row->addWidget(slider, 1);
    row->addWidget(number);
    slider->setRange(first, last);
    slider->setPageStep(10);
    slider->setMinimumWidth(40);
    number->setMinimumWidth(fontMetrics().horizontalAdvance(power_text(5e-8)) + 6);
    setFocusProxy(slider);
  }
  Slider* slider;
  QLabel* number;
};

/// A power of ten whose exponent is one of some tenths.
class PowerField : public SettingField {
 public:
  PowerField(Words words, Place<double> place, IndexRange tenths, Study& study,
             SessionEditor& editor)
      : SettingField(std::move(words), study, editor), place_(std::move(place)), tenths_(tenths) {}

  void add_to_menu(QMenu& menu) override {
    QMenu* own = menu.addMenu(words().menu);
    for (int i = 1; - 10 * i >= tenths_.begin; ++i)
      own->addAction(power_text(std::pow(10.0, -i)), own,
                     [this, i] { choose(std::pow(10.0, -i)); });
    make_exclusive(*own);
    follow(*own, [this, own](const ViewSettings& settings) {
      const int tenth = tenth_of(settings);
      check_entry(*own, tenth % 10 == 0 ? -tenth / 10 - 1 : -1);
    });
  }

 protected:
  QWidget* make_bare_widget() override {
    auto* field = new PowerSlider(int(tenths_.begin), int(tenths_.end) - 1);
    field->slider->setAccessibleName(words().name);
    QObject::connect(field->slider, &QSlider::valueChanged, field,
                     [this](int tenth) { choose(std::pow(10.0, tenth / 10.0)); });
    QObject::connect(field->slider, &Slider::reset_requested, field,
                     [this] { choose(place_.read({})); });
    follow(*field, [this, field](const ViewSettings& settings) {
      const QSignalBlocker quiet(field->slider);
      if (!field->slider->isSliderDown()) field->slider->setValue(tenth_of(settings));
      field->number->setText(power_text(place_.read(settings)));
    });
    return field;
  }

 private:
  int tenth_of(const ViewSettings& settings) const {
    return int(std::lround(10 * std::log10(place_.read(settings))));
  }
  void choose(double value) {
    change([&](ViewSettings& settings) { place_.write(settings, value); });
  }

  Place<double> place_;
  IndexRange tenths_;
};

QString why_no_floor(const CanvasModel& model) {
  return model.settings.norm == Norm::log ? "" : "The norm is not logarithmic";
}

QString why_no_pool(const CanvasModel& model) {
  std::vector<View> pooled = all_views();
  std::erase_if(pooled, [](View v) { return !v->uses_pooling; });
  const bool any = std::ranges::any_of(model.views, [](View v) { return v->uses_pooling; });
  return any ? "" : "No row is pooled (" + to_qt(names_of(pooled)) + "): choose View > Rows";
}

Choice<Norm> choice(Norm norm, const QString& brief) {
  return {norm, brief, to_qt(label_of(norm))};
}

/// A choice by its words, a size as a power of two, an amount as a power of ten up to 1 if its axis
/// is logarithmic, else as one of nine values of its range. Null for others, which are for files
/// and commands.
std::shared_ptr<SettingField> own_field(View view, const ViewField& own, Study& study,
                                        SessionEditor& editor) {
  const Field& field = own.field;
  const SettingField::Words words{
      to_qt(field.label), to_qt(own.menu), to_qt(field.meaning), [view](const CanvasModel& model) {
        return std::ranges::count(model.views, view) > 0
                   ? QString()
                   : "There is no " + to_qt(view->id) + " row: choose View > Rows";
      }};
  if (!field.choices.empty()) {
    std::vector<Choice<std::string>> choices;
    for (std::size_t c = 0; c < field.choices.size(); ++c)
      choices.push_back({field.choices[c], to_qt(own.words[c].brief), to_qt(own.words[c].full)});
    return std::make_shared<ChoiceField<std::string>>(words, place_of<std::string>(own), choices,
                                                      study, editor);
  }
  if (std::holds_alternative<double>(field.standard) && field.axis == Axis::log2)
    return std::make_shared<PowerField>(words, place_of<double>(own), IndexRange{-60, 1}, study,
                                        editor);
  if (std::holds_alternative<double>(field.standard)) {
    std::vector<Choice<double>> values;
    for (int step = 0; step <= 8; ++step) {
      const double value = field.min + step * (field.max - field.min) / 8;
      values.push_back({value, number_text(value, 3)});
    }
    return std::make_shared<ChoiceField<double>>(words, place_of<double>(own), values, study,
                                                 editor);
  }
  if (std::holds_alternative<std::int64_t>(field.standard)) {
    std::vector<Choice<std::int64_t>> sizes;
    for (std::int64_t size = 1; size <= 128; size *= 2)
      if (double(size) >= std::max(2.0, field.min) && double(size) <= field.max)
        sizes.push_back({size, QString::number(size)});
    return std::make_shared<ChoiceField<std::int64_t>>(words, place_of<std::int64_t>(own), sizes,
                                                       study, editor);
  }
  return nullptr;
}

}  // namespace

GeneralFields general_fields(Study& study, SessionEditor& editor) {
  using S = ViewSettings;
  std::vector<Choice<std::string>> maps;
  for (const auto& id : colormap_ids())
    if (colormap_for(Palette::sequential, id).id == id) maps.push_back({id, to_qt(id)});
  GeneralFields fields;
  fields.norm = std::make_shared<ChoiceField<Norm>>(
      SettingField::Words{"Norm", "&Norm", "How weights become colours"}, place_of(&S::norm),
      std::vector{choice(Norm::log, "log"), choice(Norm::linear, "linear"),
                  choice(Norm::row_max, "per row")},
      study, editor);
  fields.floor = std::make_shared<PowerField>(
      SettingField::Words{"Floor", "Logarithmic &floor",
                          "Where a logarithmic scale begins: a share of its top", why_no_floor},
      place_of(&S::log_floor), IndexRange{-80, 0}, study, editor);
  fields.map = std::make_shared<ChoiceField<std::string>>(
      SettingField::Words{"Map", "&Colour map", "The colours of weights"}, place_of(&S::colormap),
      maps, study, editor);
  fields.range = std::make_shared<SwitchField>(
      SettingField::Words{"Range", "&Shared range",
                          "One colour range for all panels of a row, or one for each panel"},
      &S::shared_range, "own ranges", "shared range", study, editor);
  fields.pool = std::make_shared<ChoiceField<Pool::Kind>>(
      SettingField::Words{
          "Pool", "&Pooling",
          "What a pixel of a heatmap or an error map shows of several entries that it covers: "
          "the mean, with dots at large entries that it hides, or the largest (of magnitude, "
          "where they have signs). A pixel that covers fewer than two each way shows the area "
          "average. Colour bars say how a row is pooled",
          why_no_pool},
      place_of(&S::pool),
      std::vector<Choice<Pool::Kind>>{
          {Pool::Kind::mean, "mean", "mean of a pixel's entries, dots at the largest"},
          {Pool::Kind::max, "max", "maximum of a pixel's entries"}},
      study, editor);
  return fields;
}

SettingFieldList own_fields(View view, Study& study, SessionEditor& editor) {
  SettingFieldList fields;
  for (const auto& [of, field] : view_fields())
    if (of == view)
      if (auto made = own_field(view, *field, study, editor)) fields.push_back(std::move(made));
  return fields;
}

}  // namespace fovea
