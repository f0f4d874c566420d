// All that the window says in many states, against what is kept in tests/window/said.
#include <QAction>
#include <QDockWidget>
#include <QStatusBar>
#include <QTest>

#include "kept_lines.h"
#include "tiny_text_model.h"
#include "views/views.h"
#include "window/dialogs/add_column_dialog.h"
#include "window/dialogs/glossary_dialog.h"
#include "window/dialogs/keys_dialog.h"
#include "window/dialogs/model_dialog.h"
#include "window/dialogs/sweep_dialog.h"
#include "window/docks/comparison_dock.h"
#include "window/parameter_popup.h"
#include "window/pointer.h"
#include "window/row_settings.h"
#include "window/what_is_said.h"

namespace fovea::test {
namespace {

/// What is new in each state.
class Changes {
 public:
  void add(const std::string& title, const Lines& now) {
    lines.push_back("== " + title);
    for (const std::string& line : now)
      if (std::ranges::find(before_, line) == before_.end()) lines.push_back(line);
    before_ = now;
  }
  Lines lines;

 private:
  Lines before_;
};

/// Until everything that was asked for has been read.
bool be_quiet(Window& window) {
  int seen = 0;
  return wait_until([&] {
    const Engine::Status status = window.study().status();
    const bool quiet = window.study().settled() && !status.busy() && status.waiting == 0;
    return (seen = quiet ? seen + 1 : 0) > 5;
  });
}

/// What stands in the docks, each in sight.
void add_docks(Lines& to, Window& window, const std::vector<const char*>& names) {
  for (const char* name : names) {
    window->docks().show(name);
    REQUIRE(be_quiet(window));
    add(to, name, said_by(*window->findChild<QDockWidget*>(name)->widget()));
  }
}

const std::vector<const char*> steady_docks{"Input", "Column", "Comparison", "Spans", "Learning"};

void say_of(const std::string& name, const QString& source) {
  Window window(source);
  REQUIRE(be_quiet(window));
  Lines lines;
  add(lines, "window", said_by(*window));
  add(lines, "menus", menus_of(*window));
  add_docks(lines, window, steady_docks);
  Changes column, input;
  const auto see = [&](const std::string& title) {
    REQUIRE(be_quiet(window));
    column.add(title, said_by(*window->docks().column));
    input.add(title, said_by(*window->findChild<QDockWidget*>("Input")->widget()));
  };
  column.add("", said_by(*window->docks().column));
  input.add("", said_by(*window->findChild<QDockWidget*>("Input")->widget()));
  column.lines.clear(), input.lines.clear();
  window->change("", [](Session& s) {
    s.conditions.causal = true, s.conditions.scale = 0.25, s.pinned_query = 5;
    s.settings.norm = Norm::linear, s.settings.shared_range = false;
  });
  see("a causal head of another scale, a pinned query");
  window.study().select_column(1);
  see("the second column");
  window->change("", [](Session& s) { s.conditions.window = 4, s.conditions.soft_cap = 3; });
  see("a window and a cap");
  window.trigger("undo");
  see("without them");
  add(lines, "column", column.lines);
  add(lines, "input", input.lines);
  add(lines, "menus", menus_of(*window));
  check_kept("window/said/" + name + ".txt", lines);
}

}  // namespace

TEST_CASE("what docks, bars and menus say of heads is as it was") {
  say_of("heads", "synthetic:clusters?n=96&d=8&heads=2&seed=1");
}

TEST_CASE("what docks, bars and menus say of a text is as it was") {
  say_of("text", "content:" + assets + "/text/fovea.txt");
}

TEST_CASE("what docks, bars and menus say of an image is as it was") {
  say_of("image", "content:" + assets + "/image/cat.jpg");
}

TEST_CASE("what docks, bars and menus say of an attention matrix is as it was") {
  say_of("matrix", "synthetic:hmatrix?n=64");
}

TEST_CASE("what docks, bars and menus say of captured heads is as it was") {
  say_of("captured", assets + "/minilm/minilm-l6.safetensors");
}

TEST_CASE("what docks, bars and menus say of keys of their own and of given masks is as it was") {
  const QString captures = FOVEA_TESTS "/captures/";
  for (const char* name : {"whisper_cross", "masks", "gemma2", "gpt_oss", "mamba2"})
    say_of(name, captures + name + ".safetensors");
}

TEST_CASE("what docks and menus say of the text that a model reads is as it was") {
  const TinyTextModel model;
  Window window(QString::fromStdString(model.address("The CAT sats café.")));
  show(window, {find_view("heatmap")}, {"exact", "window", "fixed"});
  window.study().select_column(1);
  REQUIRE(be_quiet(window));
  Lines lines;
  add(lines, "window", said_by(*window));
  add(lines, "menus", menus_of(*window));
  add_docks(lines, window, steady_docks);
  window->docks().show("Effect");
  const auto& found = window->effect().found();
  REQUIRE(wait_until([&] { return found.effect && !window->effect().running(); }));
  add(lines, "Effect", said_by(*window->findChild<QDockWidget*>("Effect")->widget()));
  check_kept("window/said/model.txt", lines);
}

TEST_CASE("what the column dock, its form and its popup say of each variant is as it was") {
  Window window(small);
  Changes changes, others;
  for (const Variant& variant : variants()) {
    show(window, {find_view("heatmap")}, {"exact", variant.id});
    window.study().select_column(1);
    REQUIRE(be_quiet(window));
    changes.add(variant.id, said_by(*window->docks().column));
    window->parameter_popup().open_at({200, 200}, 1);
    others.add(variant.id, said_by(window->parameter_popup()));
    window->parameter_popup().hide();
  }
  changes.lines.insert(changes.lines.end(), others.lines.begin(), others.lines.end());
  check_kept("window/said/variants.txt", changes.lines);
}

TEST_CASE("what the settings of each row say is as it was") {
  Window window(small);
  Lines lines;
  for (const View view : all_views()) {
    show(window, {view, find_view("cost")}, {"exact", "h1d"});
    REQUIRE(be_quiet(window));
    add(lines, to_text(view), said_by(window.row_settings(view)));
    window->row_settings().hide();
  }
  check_kept("window/said/rows.txt", lines);
}

TEST_CASE("what dialogs say is as it was") {
  Window window(small);
  Lines lines;
  const auto actions = window->findChildren<QAction*>();
  KeysDialog keys({actions.begin(), actions.end()});
  add(lines, "keys", said_by(keys));
  GlossaryDialog glossary(&*window);
  add(lines, "glossary", said_by(glossary));
  AddColumnDialog columns(window.study(), window->editor(), &*window);
  add(lines, "columns", said_by(columns));
  ModelDialog model(window->workspace());
  add(lines, "model", said_by(model));
  SweepDialog sweep(window->workspace());
  add(lines, "sweep", said_by(sweep));
  check_kept("window/said/dialogs.txt", lines);
}

TEST_CASE("what the window says of what is pointed at, pinned, selected and chosen is as it was") {
  Window window(small);
  Changes changes;
  const auto say = [&](const std::string& title) {
    REQUIRE(be_quiet(window));
    be_still(window);
    changes.add(title, said_by(*window->docks().column));
    changes.lines.push_back("status: " + window->statusBar()->currentMessage().toStdString());
  };
  take_focus(window);
  window.study().select_column(column_of(window, "h1d"));
  window->navigation().point_to(20, 100);
  say("a pair");
  window->navigation().point_to(100, 20);
  press(window, Qt::Key_Return);
  say("a pinned pair");
  press(window, Qt::Key_M);
  for (int step = 0; step < 5; ++step) press(window, Qt::Key_Left, Qt::AltModifier);
  press(window, Qt::Key_Up, Qt::AltModifier);
  press(window, Qt::Key_M);
  say("a selection");
  press(window, Qt::Key_B);
  say("a block");
  for (const char* tree : {"tf", "tc"}) {
    window.study().select_column(column_of(window, tree));
    press(window, Qt::Key_BracketRight);
    say(tree + std::string(", a leaf"));
    press(window, Qt::Key_BracketLeft);
    say(tree + std::string(", the last leaf"));
  }
  press(window, Qt::Key_Q);
  say("the worst query");
  press(window, Qt::Key_Escape);
  say("nothing");
  check_kept("window/said/chosen.txt", changes.lines);
}

}  // namespace fovea::test
