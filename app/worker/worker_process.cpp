#include "worker/worker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>

#include "data/error.h"
#include "data/utf8.h"

extern char** environ;

namespace fovea {
namespace {

// Leaves out the folder in which the program was started: a file torch.py there must not run.
constexpr char program[] =
    "import sys; sys.path[0] = sys.argv.pop(1); from fovea.worker import main; sys.exit(main())";
// The worker's descriptor of the socket; what libraries print goes elsewhere.
constexpr int channel_of_worker = 3;
constexpr auto moment = std::chrono::milliseconds(10);
constexpr int moments_to_end = 50;       // before the process is killed
constexpr off_t most_last_words = 2000;  // bytes

/// A list of texts as the system takes it. The texts must outlive the result.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// The file actions of a process that is started, which are freed at the end of the scope.
struct FileActions {
  FileActions() { ::posix_spawn_file_actions_init(&actions); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions); }
  posix_spawn_file_actions_t actions;
};

/// Starts a process in a group of its own, so that Ctrl-C in a terminal is ours, with default
/// signals.
struct OwnGroup {
  OwnGroup() {
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes, &signals);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
  }
  ~OwnGroup() { ::posix_spawnattr_destroy(&attributes); }
  posix_spawnattr_t attributes;
};

}  // namespace

WorkerProcess::WorkerProcess(const WorkerStart& start) : python_(start.interpreter.path) {
  const auto refuse = [&](int error) {
    return UnavailableError(python_ + " cannot be started: " + std::strerror(error));
  };
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) throw refuse(errno);
  channel_.emplace(Descriptor(ends[0]));
  const Descriptor other(ends[1]);
  said_ = Descriptor(::memfd_create("worker", MFD_CLOEXEC));
  if (!said_) throw refuse(errno);

  std::vector<std::string> words{python_,     "-c",
                                 program,     start.package,
                                 start.model, "--name=" + start.name,
                                 "--channel", std::to_string(channel_of_worker)};
  if (start.trust_remote_code) words.push_back("--trust-remote-code");
  // The package starts this very program to compute variants.
  std::vector<std::string> variables{"FOVEA=" + start.program};
  for (char** variable = environ; *variable; ++variable)
    if (!std::string_view(*variable).starts_with("FOVEA=")) variables.emplace_back(*variable);

  FileActions files;
  ::posix_spawn_file_actions_addopen(&files.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const int standard : {STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_adddup2(&files.actions, said_.get(), standard);
  ::posix_spawn_file_actions_adddup2(&files.actions, other.get(), channel_of_worker);
  const OwnGroup group;
  const int error = ::posix_spawn(&process_, python_.c_str(), &files.actions, &group.attributes,
                                  pointers_to(words).data(), pointers_to(variables).data());
  if (error == 0) return;
  process_ = -1;
  throw refuse(error);
}

WorkerProcess::~WorkerProcess() {
  end();
}

// The worker ends by itself when its input ends, unless it hangs.
void WorkerProcess::end() {
  if (process_ < 0) return;
  channel_.reset();
  const auto has_ended = [&] { return ::waitpid(process_, &status_, WNOHANG) == process_; };
  for (int i = 0; i < moments_to_end && !has_ended(); ++i) {
    if (i + 1 < moments_to_end) {
      std::this_thread::sleep_for(moment);
      continue;
    }
    killed_ = ::kill(-process_, SIGKILL) == 0;
    while (::waitpid(process_, &status_, 0) < 0 && errno == EINTR) {
    }
  }
  process_ = -1;
}

std::string WorkerProcess::last_words() {
  end();
  std::string how = "ended with " + std::to_string(WEXITSTATUS(status_));
  if (killed_)
    how = "did not end by itself";
  else if (WIFSIGNALED(status_))
    how = std::string("was ended by ") + (WTERMSIG(status_) == SIGKILL
                                              ? "the system, as where memory runs out (SIGKILL)"
                                              : ::strsignal(WTERMSIG(status_)));
  std::string said(most_last_words, '\0');
  const off_t size = ::lseek(said_.get(), 0, SEEK_END);
  const ssize_t got =
      ::pread(said_.get(), said.data(), said.size(), std::max<off_t>(0, size - most_last_words));
  said.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  const std::size_t line = said.rfind('\n');  // the last one of a traceback says what happened
  if (line != std::string::npos) said.erase(0, line + 1);
  return python_ + " " + how + (said.empty() ? "" : ": " + printable(said));
}

}  // namespace fovea
