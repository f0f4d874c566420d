// The effect dock: heads are painted, effects are measured by themselves, policies are found,
// written and read again.
#include <doctest/doctest.h>

#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>
#include <algorithm>
#include <cmath>

#include "drawing/colormap.h"
#include "effect/effect_json.h"
#include "figure/painter_ink.h"
#include "temporary_directory.h"
#include "tiny_text_model.h"
#include "views/views.h"
#include "window/docks/effect_dock.h"
#include "window/docks/effect_grid.h"
#include "window/docks/effect_readings.h"
#include "window/pointer.h"
#include "window/widgets/theme.h"

namespace fovea::test {
namespace {

/// A window on a model of two layers of two heads, with the dock in sight.
struct Shown {
  TinyTextModel model;
  Window window{QString::fromStdString(model.address("The CAT sats café."))};
  EffectRun& run = window->effect();
  EffectDock* dock = nullptr;

  Shown() {
    REQUIRE(window.settle());
    show(window, {find_view("heatmap")}, {"exact", "window", "fixed"});
    window.study().select_column(1);
    window->docks().show("Effect");
    dock = window->findChild<EffectDock*>();
    REQUIRE(wait_until([&] { return dock->isVisible(); }));
  }
  bool measured() {
    return wait_until([&] { return run.found().effect && !run.stale() && !run.running(); });
  }
  template <class Widget>
  Widget* find(const char* name) {
    return dock->findChild<Widget*>(name);
  }
  QString state() { return find<QLabel>("effect_state")->text(); }
};

}  // namespace

TEST_CASE("what is painted, typed or set is measured by itself while the dock is in sight") {
  Shown shown;
  REQUIRE(shown.measured());
  CHECK(shown.run.found().effect->parts.at(0).heads == 4);
  CHECK(shown.run.found().curve.size() == 2);
  CHECK(shown.state().contains("last hidden states move by"));
  auto* grid = shown.find<EffectGrid>("effect_grid");
  auto* heads = shown.find<QLineEdit>("effect_heads");
  CHECK(heads->text() == "all");
  // A drag leaves out both heads of the first layer.
  QTest::mousePress(grid, Qt::LeftButton, {}, grid->centre_of(0, 0));
  QMouseEvent moved(QEvent::MouseMove, grid->centre_of(0, 1),
                    grid->mapToGlobal(grid->centre_of(0, 1)), Qt::NoButton, Qt::LeftButton, {});
  QCoreApplication::sendEvent(grid, &moved);
  QTest::mouseRelease(grid, Qt::LeftButton, {}, grid->centre_of(0, 1));
  CHECK(heads->text() == "1");
  REQUIRE(shown.measured());
  CHECK(shown.run.found().effect->drift.at(0).relative == 0);
  CHECK(shown.run.found().effect->parts.at(0).heads == 2);
  // By the keyboard, too.
  grid->setFocus();
  QTest::keyClick(grid, Qt::Key_Down);
  QTest::keyClick(grid, Qt::Key_Space);
  CHECK(heads->text() == "1.1");
  heads->setFocus();
  heads->selectAll();
  QTest::keyClicks(heads, "0.1");
  QTest::keyClick(heads, Qt::Key_Return);
  REQUIRE(shown.measured());
  CHECK(shown.run.chosen()->text() == "0.1");
  heads->setFocus();
  heads->selectAll();
  QTest::keyClicks(heads, "7");
  QTest::keyClick(heads, Qt::Key_Return);
  CHECK(shown.window->info_bar().message().contains("the layers 0 to 1"));
  CHECK(shown.run.chosen()->text() == "0.1");
}

TEST_CASE("the heads in which attention is replaced belong to the session") {
  Shown shown;
  SessionEditor& editor = shown.window->editor();
  CHECK(shown.window.study().session().replaced_heads == "all");
  shown.run.choose(ChosenHeads("0.1", 2, 2));
  CHECK(shown.window.study().session().replaced_heads == "0.1");
  editor.undo();
  CHECK(shown.run.chosen()->text() == "all");
  editor.redo();
  CHECK(shown.run.chosen()->text() == "0.1");
  CHECK(shown.find<QLineEdit>("effect_heads")->text() == "0.1");
  shown.run.choose(ChosenHeads(2, 2));
  CHECK(shown.window.study().session().replaced_heads == "");
  CHECK(shown.state().contains("Choose the heads"));
  // Heads that this model does not have are those of another one.
  editor.change("", [](Session& session) { session.replaced_heads = "25-29"; });
  CHECK(shown.run.chosen()->text() == "all");
}

TEST_CASE("passes are timed in turn after the numbers are there") {
  Shown shown;
  REQUIRE(shown.measured());
  const EffectTimes& times = shown.run.found().effect->times;
  CHECK(times.rounds() >= 1);
  CHECK(times.attention.exact_ms.size() == times.model.exact_ms.size());
  CHECK_FALSE(Rounds().wants_more(times));
  const std::vector<Reading> readings = readings_of(*shown.run.found().effect);
  for (const char* label : {"attention", "its speed-up", "model", "speed-up of the model"}) {
    CAPTURE(label);
    CHECK(std::ranges::count(readings, QString(label), &Reading::label) == 1);
  }
  shown.window.shoot("effect");
}

TEST_CASE(
    "law: the readings of an effect have each of its numbers, and exact attention's beside it") {
  ModelEffect effect;
  effect.perplexity = 11, effect.exact_perplexity = 12;
  effect.loss_per_token = 13, effect.exact_loss_per_token = 14;
  effect.kl_mean = 15, effect.kl_max = 16;
  effect.top1_agreement = 0.17;
  effect.drift = {{.relative = 18}, {.relative = 19, .rows_not_finite = 20}};
  effect.pooled_cosine = 21, effect.class_cosine = 22;
  const std::vector<Reading> readings = readings_of(effect, "replaced");
  for (const auto& [label, value, exact] : {std::tuple{"perplexity", "11", "12"},
                                            {"loss per token", "13", "14"},
                                            {"mean KL", "15", ""},
                                            {"largest KL", "16", ""},
                                            {"same first choice", "17 %", ""},
                                            {"last layer, error", "19", ""},
                                            {"rows not finite", "20", ""},
                                            {"pooled embedding, cosine", "21", ""},
                                            {"first token, cosine", "22", ""}}) {
    CAPTURE(label);
    const auto found = std::ranges::find(readings, QString(label), &Reading::label);
    REQUIRE(found != readings.end());
    CHECK(found->value == value);
    CHECK(found->second.trimmed() == exact);
    CHECK_FALSE(found->tip.isEmpty());
  }
}

TEST_CASE("what cannot be measured is said in words") {
  Shown shown;
  REQUIRE(shown.measured());
  shown.window.study().select_column(0);
  CHECK(shown.state().contains("exact attention changes nothing"));
  CHECK_FALSE(shown.find<QPushButton>("effect_measure")->isEnabled());
  shown.window->open("synthetic:clusters?n=64&d=8&seed=2");
  REQUIRE(wait_until([&] { return shown.window.study().length() == 64; }));
  CHECK(shown.state().contains("Open a model"));
  CHECK_FALSE(shown.run.chosen());
  CHECK_FALSE(shown.run.found().effect);
}

TEST_CASE("a policy is found, written, and read again") {
  Shown shown;
  const TemporaryDirectory folder;
  REQUIRE(shown.measured());
  shown.find<QComboBox>("effect_units")->setCurrentIndex(1);
  shown.find<QDoubleSpinBox>("effect_budget")->setValue(100);  // everything fits
  shown.find<QPushButton>("effect_policy")->click();
  REQUIRE(wait_until([&] {
    const auto& search = shown.run.found().search;
    return search && search->complete() && !shown.run.running();
  }));
  CHECK(shown.state().contains("policy"));
  const auto parts = shown.run.found().parts;
  const double change = shown.run.found().effect->change();
  const QString path = QString::fromStdString(folder / "policy.json");
  CHECK(shown.dock->write_to(path) == "");
  CHECK(shown.dock->write_to(QString::fromStdString(folder / "effect.svg")) == "");
  CHECK(read_bytes(folder / "effect.svg").find("<svg") != std::string::npos);
  CHECK(shown.dock->write_to(QString::fromStdString(folder / "none/effect.svg")) != "");
  CHECK(shown.dock->open_policy(path) == "");
  REQUIRE(wait_until([&] { return shown.run.found().effect && !shown.run.running(); }));
  REQUIRE(shown.run.found().parts.size() == parts.size());
  CHECK(shown.run.found().parts[0].heads == parts[0].heads);
  CHECK(shown.run.found().effect->change() == change);
  write_bytes(folder / "wrong.json", "[]");
  CHECK(shown.dock->open_policy(QString::fromStdString(folder / "wrong.json"))
            .contains("is no policy"));
}

TEST_CASE("the budget suits what was measured until a person chooses one") {
  Shown shown;
  auto* budget = shown.find<QDoubleSpinBox>("effect_budget");
  REQUIRE(shown.measured());
  const double change = shown.run.found().effect->change();
  REQUIRE(change > 0.08);
  CHECK(budget->value() == doctest::Approx(change / 4).epsilon(0.01));  // it has three decimals
  // A search that finds something changes nothing of it.
  shown.find<QPushButton>("effect_policy")->click();
  REQUIRE(wait_until([&] {
    const auto& search = shown.run.found().search;
    return search && search->complete() && !shown.run.running();
  }));
  CHECK(budget->value() == doctest::Approx(change / 4).epsilon(0.01));
  budget->setValue(0.5);
  shown.window.study().select_column(2);
  REQUIRE(shown.measured());
  CHECK(budget->value() == 0.5);
}

TEST_CASE("where no policy stays within the budget the grid shows none") {
  Shown shown;
  REQUIRE(shown.measured());
  auto* budget = shown.find<QDoubleSpinBox>("effect_budget");
  budget->setValue(budget->minimum());
  shown.find<QPushButton>("effect_policy")->click();
  REQUIRE(wait_until([&] {
    const auto& search = shown.run.found().search;
    return search && search->complete() && !shown.run.running();
  }));
  REQUIRE_FALSE(shown.run.found().search->best());
  CHECK(shown.state().contains("No policy of these columns stays within the budget"));
  auto* grid = shown.find<EffectGrid>("effect_grid");
  grid->set_colours(EffectGrid::Colours::policy);
  CHECK(grid->scale().contains("exact in all heads"));
  CHECK_FALSE(grid->scale().contains("■"));
}

TEST_CASE("law: curve, estimates and single effects are of the column that they name") {
  Shown shown;
  const auto same = [&] {
    const auto& found = shown.run.found();
    const auto part = shown.run.part();
    REQUIRE(part);
    REQUIRE(found.of);
    CHECK(found.of->variant == part->variant);
    CHECK(found.of->settings == part->settings);
    CHECK(found.title_of == shown.window.study().title_of(shown.window.study().selected_column()));
    if (found.alone) CHECK(found.alone->candidates().at(0).variant == part->variant);
    if (!found.alone) CHECK_FALSE(found.estimates);
  };
  for (const int column : {1, 2, 1}) {
    shown.window.study().select_column(column);
    REQUIRE(shown.measured());
    same();
    CHECK_FALSE(shown.run.found().alone);  // that of the column before is not shown for this one
    shown.run.measure_alone(UnitKind::layer);
    REQUIRE(wait_until([&] {
      return !shown.run.running() && shown.run.found().alone && shown.run.found().alone->complete();
    }));
    same();
    CHECK(shown.run.found().estimates);
  }
}

TEST_CASE("law: each cell of the grid has the colour of its number, on the scale of its kind") {
  Shown shown;
  REQUIRE(shown.measured());
  auto* grid = shown.find<EffectGrid>("effect_grid");
  const drawing::Style& style = window_style();
  // All heads, each alone and each layer alone; the heads of a layer in part.
  for (const auto& kind : {std::pair<std::string, UnitKind>{"all", UnitKind::head},
                           {"all", UnitKind::layer},
                           {"0.1,1", UnitKind::layer}}) {
    const UnitKind units = kind.second;
    const std::string which = kind.first + (units == UnitKind::head ? ", heads" : ", layers");
    CAPTURE(which);
    const ChosenHeads chosen(kind.first, 2, 2);
    shown.run.choose(chosen);
    REQUIRE(shown.measured());
    const auto check = [&] {
      const auto& found = shown.run.found();
      const auto measured = found.alone ? found.alone->found() : std::vector<UnitEffect>();
      grid->set_colours(EffectGrid::Colours::change);
      const QImage seen = grid->grab().toImage();
      double most = 0, most_estimated = 0;
      for (const UnitEffect& unit : measured) most = std::max(most, std::abs(unit.change));
      for (Index layer = 0; layer < 2; ++layer)
        for (Index head = 0; head < 2; ++head)
          most_estimated = std::max(most_estimated, found.estimates->of(layer, head).value_or(0));
      int cells = 0;
      for (Index layer = 0; layer < 2; ++layer)
        for (Index head = 0; head < 2; ++head) {
          CAPTURE(layer);
          CAPTURE(head);
          QColor expected = qcolor(style.raised);
          const auto coloured = [&](double value, double largest) {
            const ValueColours colours{.palette = Palette::diverging,
                                       .map = &colormap_for(Palette::diverging, ""),
                                       .low = -largest,
                                       .high = largest};
            ++cells;
            return qcolor(drawing::opaque(colours.colour(value)));
          };
          const auto unit = std::ranges::find_if(measured, [&](const UnitEffect& one) {
            return one.layer == layer && (units == UnitKind::layer || one.head == head);
          });
          if (!chosen.has(layer, head))
            CHECK_FALSE(found.estimates->of(layer, head));
          else if (unit != measured.end())
            expected = coloured(unit->change, most);
          else
            expected = coloured(*found.estimates->of(layer, head), most_estimated);
          CHECK(seen.pixelColor(grid->centre_of(layer, head)).name() == expected.name());
        }
      CHECK(cells == chosen.size());
    };
    // It is stopped once all heads are estimated, and again once one unit is measured.
    for (const std::size_t measured : {std::size_t{0}, std::size_t{1}, std::size_t{9}}) {
      const auto stop = QObject::connect(&shown.run, &EffectRun::changed, [&] {
        const auto& found = shown.run.found();
        const bool estimated = found.estimates && found.estimates->complete();
        if (shown.run.running() && estimated &&
            (found.alone ? found.alone->found().size() : 0) >= measured)
          shown.run.stop();
      });
      shown.run.measure_alone(units);
      REQUIRE(wait_until([&] { return !shown.run.running(); }));
      QObject::disconnect(stop);
      const auto& alone = shown.run.found().alone;
      CHECK((alone ? alone->found().size() : 0) == std::min(measured, alone ? alone->count() : 0));
      check();
    }
  }
}

TEST_CASE("law: the grid shows the policy that was measured last, wherever it is from") {
  Shown shown;
  const TemporaryDirectory folder;
  REQUIRE(shown.measured());
  auto* grid = shown.find<EffectGrid>("effect_grid");
  const auto check = [&] {
    grid->set_colours(EffectGrid::Colours::policy);
    const QImage seen = grid->grab().toImage();
    const auto& parts = shown.run.found().parts;
    const auto chosen = heads_of(parts, 2, 2);
    for (Index layer = 0; layer < 2; ++layer)
      for (Index head = 0; head < 2; ++head) {
        CAPTURE(layer);
        CAPTURE(head);
        const auto its = std::ranges::find_if(
            chosen, [&](const ChosenHeads& one) { return one.has(layer, head); });
        const QColor expected =
            its == chosen.end()
                ? qcolor(window_style().raised)
                : qcolor(drawing::opaque(category_colour(int(its - chosen.begin()) + 1)));
        CHECK(seen.pixelColor(grid->centre_of(layer, head)).name() == expected.name());
      }
    for (const ReplacedPart& part : parts)
      CHECK(grid->scale().contains(QString::fromStdString(part.variant->label)));
  };
  const auto ends = [&] {
    return wait_until([&] { return shown.run.found().effect && !shown.run.running(); });
  };
  check();  // the column
  shown.run.find_policy(shown.run.candidates(), {.change = 100.0, .cost = {}}, UnitKind::layer);
  REQUIRE(ends());
  check();
  const auto file = [&](const std::string& where) {
    const std::string part =
        R"({"variant": "fixed", "parameters": {}, "seed": 0, "where": ")" + where + R"("})";
    return QString::fromStdString(folder.write(
        "policy.json", R"({"policy": 1, "layers": 2, "heads": 2, "parts": [)" + part + "]}"));
  };
  for (const char* where : {"0.1", "1"}) {
    CHECK(shown.dock->open_policy(file(where)) == "");
    REQUIRE(ends());
    CHECK(shown.run.found().parts.at(0).heads == where);
    check();
  }
  shown.run.measure();
  REQUIRE(ends());
  check();
}

TEST_CASE("each head alone colours the grid, and says so") {
  Shown shown;
  REQUIRE(shown.measured());
  shown.find<QComboBox>("effect_units")->setCurrentIndex(1);
  shown.find<QPushButton>("effect_alone")->click();
  REQUIRE(wait_until([&] {
    const auto& alone = shown.run.found().alone;
    return alone && alone->complete() && !shown.run.running();
  }));
  CHECK(shown.run.found().alone->found().size() == 4);
  CHECK(shown.find<QLabel>("effect_scale")->text().contains("measured"));
  CHECK(shown.find<QComboBox>("effect_colours")->currentText() == "Change of each alone");
}

}  // namespace fovea::test
