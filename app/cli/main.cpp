// The program `fovea`: parses the command line, runs the command and says how it went.
#include <csignal>
#include <filesystem>
#include <iostream>
#include <new>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "data/error.h"
#include "window/run_window.h"

namespace fovea {
namespace {

constexpr int defect = 1, wrong_command_line = 2, not_to_be_had = 4;

int complain(int status, const std::string& message) {
  std::cerr << "fovea: " << message << '\n';
  return status;
}

/// Errors become a message and an exit status here, and nowhere else.
int guarded(const std::function<int()>& work) {
  try {
    return work();
  } catch (const Cancelled& cancelled) {
    return complain(cancelled.status(), "stopped");
  } catch (const Error& error) {
    return complain(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return complain(not_to_be_had, "not enough memory");
  } catch (const std::exception& error) {
    return complain(defect, std::string("a defect of ours: ") + error.what());
  }
}

int run_command(const Work& work) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file limit is an error like a full disk, not a death
  Interrupt interrupt;
  return guarded([&] {
    work({.out = std::cout, .err = std::cerr, .stop = interrupt.token()});
    if (!std::cout.flush()) throw UnavailableError("standard output: cannot be written");
    return 0;
  });
}

/// A misspelt command looks like a file; say so rather than open a window on nothing.
void check_files(const std::vector<std::string>& files) {
  for (const auto& file : files)
    if (file.find_first_of("./:") == std::string::npos && !std::filesystem::exists(file))
      throw UsageError("'" + file +
                       "' is neither a command nor a file (fovea --help lists the commands)");
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App program("Fovea, a microscope for attention. Without a command it opens the window.",
                   "fovea");
  program.set_version_flag("--version", "fovea " FOVEA_VERSION);
  program.set_help_all_flag("--help-all", "The options of every command");
  program.footer(
      "Exit status: 0 done, 2 wrong command line, 3 bad input, 4 not to be had (back end, "
      "display,\n"
      "memory, disk), 130 stopped by Ctrl-C, 1 a defect of ours.");
  std::vector<std::string> files;
  program.add_option("FILE", files,
                     "What to look at, each in a window; none: what was open last, or the bundled "
                     "example");
  BackendOptions backend;
  backend.add_to(program);
  program.require_subcommand(0, 1);
  Work chosen;
  add_info_command(program, chosen);
  add_variants_command(program, chosen);
  add_compute_command(program, chosen);
  add_rankmap_command(program, chosen);
  add_render_command(program, chosen);
  add_bench_command(program, chosen);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    return complain(wrong_command_line, error.what());
  }
  for (const char* name : {"--backend", "--precision", "--threads"})
    if (chosen && program.count(name) > 0)
      return complain(wrong_command_line, std::string(name) + " stands after its command");
  if (chosen && !files.empty())
    return complain(wrong_command_line, "'" + files.front() +
                                            "' stands before the command, which would not see it: "
                                            "SOURCE stands after its command");
  if (chosen) return run_command(chosen);
  return guarded([&] {
    check_files(files);
    return run_window(argc, argv, files, backend);
  });
}

}  // namespace fovea

int main(int argc, char** argv) {
  return fovea::run(argc, argv);
}
