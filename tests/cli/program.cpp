#include "cli/program.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "everything_in.h"

extern char** environ;

namespace fovea::test {
namespace {

pid_t spawn(std::vector<std::string> words, const std::string& out, const std::string& err) {
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawnattr_t attributes;  // a test may ignore them; the program must not
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGXFSZ);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::runtime_error("cannot start " + words.front());
  return child;
}

// Reads fields 14 and 15 of the `stat` of a running process, in clock ticks (proc(5)).
double cpu_seconds_of(pid_t process) {
  const std::string text = read_bytes("/proc/" + std::to_string(process) + "/stat");
  std::istringstream fields(text.substr(text.rfind(')') + 1));  // from the third on
  std::string word;
  for (int field = 3; field < 14; ++field) fields >> word;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// The signals that the main thread blocks, as another thread waits for them: bit n - 1 of SigBlk.
bool blocks(pid_t process, int signal) {
  std::istringstream lines(read_bytes("/proc/" + std::to_string(process) + "/status"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("SigBlk:"))
      return std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1;
  return false;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Whatever names the files and the data have.
void check_figures(const std::vector<std::string>& arguments) {
  for (std::size_t w = 1; w < arguments.size(); ++w)
    if ((arguments[w - 1] == "-o" || arguments[w - 1] == "--figure") &&
        arguments[w].ends_with(".svg"))
      check_svg(read_bytes(arguments[w]));
}

}  // namespace

Running::Running(const std::vector<std::string>& arguments, const std::string& output,
                 std::vector<std::string> starter)
    : output_(output) {
  std::vector<std::string> words = std::move(starter);
  words.push_back(FOVEA_PROGRAM);
  words.insert(words.end(), arguments.begin(), arguments.end());
  child_ = spawn(std::move(words), output.empty() ? scratch_ / "out" : output, scratch_ / "err");
}

Running::~Running() {
  if (ended_) return;
  signal(SIGKILL);
  wait();
}

void Running::signal(int number) const {
  kill(child_, number);
}

bool Running::handles_interrupt() const {
  return blocks(child_, SIGINT);
}

double Running::cpu_seconds() const {
  return cpu_seconds_of(child_);
}

Ended Running::wait() {
  int status = 0;
  rusage usage{};
  wait4(child_, &status, 0, &usage);
  ended_ = true;
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .killed_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          .out = output_.empty() ? read_bytes(scratch_ / "out") : "",
          .err = read_bytes(scratch_ / "err"),
          .cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
}

namespace {

bool comes_about(const std::function<bool()>& done) {
  using namespace std::chrono;
  const auto until = steady_clock::now() + minutes(1);
  while (!done() && steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(1));
  return done();
}

}  // namespace

bool begins(const Running& program) {
  return comes_about([&] { return program.handles_interrupt(); });
}

bool has_computed(const Running& program, double cpu_seconds) {
  return comes_about([&] { return program.cpu_seconds() >= cpu_seconds; });
}

Ended run_program(const std::vector<std::string>& arguments, const std::string& output) {
  Running program(arguments, output);
  Ended ended = program.wait();
  if (ended.status == 0) check_figures(arguments);
  return ended;
}

Ended run_as_anyone(const std::vector<std::string>& arguments) {
  std::vector<std::string> starter;
  if (geteuid() == 0)
    starter = {"setpriv", "--inh-caps=-dac_override,-dac_read_search",
               "--bounding-set=-dac_override,-dac_read_search"};
  return Running(arguments, "", starter).wait();
}

nlohmann::json document_of(const std::vector<std::string>& arguments) {
  const Ended ended = run_program(arguments);
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  return ended.json();
}

}  // namespace fovea::test
