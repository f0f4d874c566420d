#include "endurance/endurance_run.h"

#include <malloc.h>

#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QElapsedTimer>
#include <QFileInfo>
#include <algorithm>

#include "data/kept_blocks.h"
#include "endurance/checks.h"
#include "input/assets.h"
#include "window/widgets/text.h"

namespace fovea::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int slow = 6;
constexpr bool counts_memory = false;  // the sanitizer keeps what was freed
#else
constexpr int slow = 1;
constexpr bool counts_memory = true;
#endif

constexpr double most_growth = 0.05;  // of resident memory, since the warm-up
// At first caches fill, and what is resident depends on where free blocks happen to lie and on what
// Mesa has compiled, too: 218 MiB became 245 with 2 MiB more allocated. Memory is compared with
// that after the warm-up.
constexpr double most_growth_at_first = 0.25, warm_up_seconds = 600;
constexpr double most_allocated_growth = 0.1;
// Growth is what stays: once in two hours a reading had 22 MiB more, none of them allocated, which
// the next one no longer had. Threads that have nothing to do end after 30 s.
constexpr int until_read_again_ms = 35000;
// What a window holds after much use beyond a new one, of all resident memory: above all what Mesa
// has compiled for it, up to 22 % after 600 actions, which goes with the window.
constexpr double most_of_a_window = 0.3;
constexpr int most_more = 4;  // threads and descriptors: such as Qt's own, which come and go

}  // namespace

EnduranceRun::EnduranceRun(RunLog& log, const QString& folder, const RunOptions& options)
    : log_(log),
      options_(options),
      watchdog_(log, 2000 * slow * options.patience, 60000 * slow * options.patience),
      desk_(log, folder, slow),
      answers_(desk_) {
  for (Action& action : all_actions())
    if (action.name.find(options.only) != std::string::npos) actions_.push_back(std::move(action));
}

bool EnduranceRun::may_go_on() const {
  constexpr int most_failures = 50;
  return log_.seconds() < options_.seconds && log_.failures() < most_failures &&
         (options_.actions == 0 || done_ < options_.actions);
}

bool EnduranceRun::run() {
  if (actions_.empty()) log_.failure("no action has a name with “" + options_.only + "”");
  desk_.begin_action(0, "start", options_.seed);
  make_home();
  for (const Action& action : actions_)
    if (may_go_on()) act(action);
  go_home();
  read_resources();
  while (may_go_on()) {
    act(drawn_action());
    if (done_ % options_.between == 0) {
      go_home();
      read_resources();
    }
  }
  desk_.begin_action(done_ + 1, "end", options_.seed);
  go_home();
  read_resources();
  for (MainWindow* window : desk_.windows()) desk_.close(*window);
  log_.line("done: " + std::to_string(done_) + " actions, " + std::to_string(log_.failures()) +
            " failures, the window was unresponsive for at most " +
            std::to_string(int(watchdog_.longest_ms())) + " ms");
  return log_.failures() == 0;
}

const Action& EnduranceRun::drawn_action() {
  Draws draws(options_.seed ^ 0x9e3779b97f4a7c15u, std::uint64_t(done_));
  int sum = 0;
  for (const Action& action : actions_) sum += action.weight;
  int at = draws.below(sum);
  return *std::ranges::find_if(actions_,
                               [&](const Action& action) { return (at -= action.weight) < 0; });
}

void EnduranceRun::act(const Action& action) {
  desk_.begin_action(++done_, action.name, options_.seed);
  action.run(desk_);
  constexpr int longest_pause_ms = 150;
  desk_.wait(desk_.draws().below(longest_pause_ms));
  answers_.read_messages();
  for (MainWindow* window : desk_.windows()) check_session(desk_, *window);
}

void EnduranceRun::make_home() {
  desk_.open_windows({standard_example()});
  MainWindow& window = desk_.window();
  window.resize(1600, 1000);
  if (!settle(desk_, window, 120000)) log_.failure("the first window does not settle");
  home_ = desk_.files().at("home.fovea.json");
  window.files().save_session_to(home_);
  if (!desk_.wait_until([&] { return QFileInfo(home_).size() > 0; }, 60000))
    log_.failure("the first session is not written");
}

void EnduranceRun::go_home() {
  desk_.begin_action(done_, "go home", options_.seed);
  while (desk_.windows().size() > 1) desk_.close(*desk_.windows().back());
  MainWindow& window = desk_.window();
  for (auto* dialog : window.findChildren<QDialog*>()) dialog->close();
  window.set_look("light");
  window.showNormal();
  window.resize(1600, 1000);
  window.canvas().show_grid();
  window.comparing().end();
  window.canvas().standard_panels();
  window.find_bar().close_bar();
  desk_.expect_message();  // of what was begun before
  window.open(home_);
  QApplication::clipboard()->clear();
  if (!desk_.wait_until([&] { return !window.study().opening(); }, 60000))
    log_.failure("the first session is not opened again");
  if (!settle(desk_, window, 180000)) log_.failure("the first session does not settle");
  QElapsedTimer idle;
  idle.start();
  constexpr int still_ms = 1000;  // between two timings the engine is idle for a moment
  const auto still = [&] {
    const Engine::Status status = window.study().status();
    if (status.busy() || status.waiting > 0 || !window.study().fully_refined()) idle.start();
    return idle.elapsed() > still_ms;
  };
  if (!desk_.wait_until(still, 180000)) log_.failure("work goes on without an end");
  check_results(desk_, window);
}

Resources EnduranceRun::resources(const char* when) {
  free_kept_blocks();
  malloc_trim(0);
  const Resources now = Resources::now();
  log_.line(std::string("  ") + when + ": " + now.text());
  return now;
}

void EnduranceRun::read_resources() {
  const Resources used = resources("in use");
  for (MainWindow* window : desk_.windows()) desk_.close(*window);
  go_home();
  Resources now = resources("with a new window");
  if (before_ && has_grown(now)) {
    desk_.wait_until([] { return false; }, until_read_again_ms);
    now = resources("35 s later");
  }
  if (!first_) first_ = before_ = now;
  check_growth(used, now);
  if (!warm_ && log_.seconds() >= warm_up_seconds) {
    log_.line("  warmed up; memory is compared with this from here on");
    warm_ = true;
    before_ = now;
  }
}

bool EnduranceRun::has_grown(const Resources& now) const {
  const double growth = warm_ ? most_growth : most_growth_at_first;
  return counts_memory &&
         (now.resident_mib > before_->resident_mib * (1 + growth) ||
          now.allocated_mib > before_->allocated_mib * (1 + most_allocated_growth));
}

void EnduranceRun::check_growth(const Resources& used, const Resources& now) {
  if (has_grown(now)) {
    log_.failure("memory has grown: before " + before_->text() + "; now " + now.text());
    before_ = now;  // each further step is another failure, not each further reading
  }
  if (counts_memory && used.resident_mib > now.resident_mib * (1 + most_of_a_window))
    log_.failure("a window that was used holds much: " + used.text() + "; a new one " + now.text());
  if (now.threads > first_->threads + most_more ||
      now.descriptors > first_->descriptors + most_more)
    log_.failure("threads or descriptors have grown: at first " + first_->text() + "; now " +
                 now.text());
}

}  // namespace fovea::test
