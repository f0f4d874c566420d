// Prints how long the window takes to start and to open a file:  bench_start [ROUNDS]
// on a display (xvfb-run draws by software). Not a test: it would fail on a busy machine, through
// no fault of the program. Each round is a process of its own, timed from before its start.
#include <QApplication>
#include <QProcess>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>

#include "data/random.h"
#include "input/assets.h"
#include "io/safetensors_writer.h"
#include "study/background.h"
#include "window/main_window.h"

namespace {

using namespace fovea;

double now_ms() {  // one clock for all processes
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The processor time of this process so far, on all its threads: better than the clock on a busy
/// machine.
double worked_ms() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
}

void write_heads(const std::string& path) {
  constexpr Index heads = 12, n = 512, d = 64;
  std::vector<OutTensor> tensors;
  Random random(7, 0);
  for (const char* name : {"q", "k", "v"}) {
    OutTensor tensor{.name = name, .shape = {heads, n, d}, .values = {}};
    std::vector<float> values(static_cast<std::size_t>(heads * n * d));
    for (float& x : values) x = static_cast<float>(random.normal());
    tensor.values = std::move(values);
    tensors.push_back(std::move(tensor));
  }
  write_safetensors(path, tensors, {});
}

bool has_picture(const Study& study) {
  const auto model = study.model();
  if (!model || study.opening()) return false;
  for (const auto& row : model->cells)
    for (const CanvasCell& cell : row)
      if (cell.panel) return true;
  return false;
}

/// When `done` was true and a frame that shows it was on the screen.
double seen(MainWindow& window, const std::function<bool()>& done) {
  if (!QTest::qWaitFor(done, 60000)) return -1;
  bool swapped = false;
  const auto watch =
      QObject::connect(&window.canvas(), &Canvas::frame_painted, [&] { swapped = true; });
  window.canvas().update();
  const bool shown = QTest::qWaitFor([&] { return swapped; }, 5000);
  QObject::disconnect(watch);
  return shown ? now_ms() : -1;
}

int one_round(double began, const QString& file) {
  QSettings().clear();
  double worked_before = 0;
  const auto say = [&](const char* what, double ms) {
    std::printf("%s;%.1f;%.1f\n", what, ms, worked_ms() - worked_before);
  };
  MainWindow window(make_low_priority_backend());
  window.open(QString::fromStdString(standard_example()));
  window.show();
  Study& study = window.study();
  say("1 start to the first picture", seen(window, [&] { return has_picture(study); }) - began);
  say("2 start to all of the example", seen(window, [&] { return study.panels_ready(); }) - began);
  const double asked = now_ms();
  worked_before = worked_ms();
  window.open(file);
  const auto arrived = [&] { return study.session().source == file.toStdString(); };
  if (!QTest::qWaitFor(arrived, 60000)) return 1;
  say("3 file opened", now_ms() - asked);
  say("4 its first picture", seen(window, [&] { return arrived() && has_picture(study); }) - asked);
  say("5 all of its pictures", seen(window, [&] { return arrived() && study.panels_ready(); }) - asked);
  return 0;
}

int all_rounds(int rounds, const QString& program) {
  QTemporaryDir dir;
  const QString file = dir.filePath("heads.safetensors");
  write_heads(file.toStdString());
  std::map<QString, std::vector<double>> times, work;
  for (int round = 0; round < rounds; ++round) {
    QProcess process;
    process.start(program, {"--round", QString::number(now_ms(), 'f', 3), file});
    if (!process.waitForFinished(180000)) return std::puts("a round did not end"), 1;
    for (const QString& line : QString(process.readAllStandardOutput()).split('\n'))
      if (const QStringList parts = line.split(';'); parts.size() == 3) {
        times[parts[0]].push_back(parts[1].toDouble());
        work[parts[0]].push_back(parts[2].toDouble());
      }
  }
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  std::printf("%d rounds; load of the machine %.1f\n", rounds, load);
  for (auto& [what, ms] : times) {
    std::ranges::sort(ms);
    auto& worked = work[what];
    std::ranges::sort(worked);
    std::printf("%-28s median %6.0f ms, %6.0f to %6.0f; processor time %6.0f ms\n",
                what.mid(2).toUtf8().constData(), ms[ms.size() / 2], ms.front(), ms.back(),
                worked[worked.size() / 2]);
  }
  std::puts(
      "goals on two quiet cores: the example within 2000 ms, the file (512 tokens, 12 heads) "
      "within 300 ms");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QApplication::setOrganizationName("Fovea tests");
  QApplication::setApplicationName("Fovea start");
  const QStringList arguments = QApplication::arguments();
  if (arguments.size() == 4 && arguments[1] == "--round")
    return one_round(arguments[2].toDouble(), arguments[3]);
  return all_rounds(arguments.size() > 1 ? std::clamp(arguments[1].toInt(), 1, 100) : 5,
                    QApplication::applicationFilePath());
}
