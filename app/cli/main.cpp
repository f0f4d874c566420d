// The program `fovea`: parses the command line, runs the command and reports errors.
#include <csignal>
#include <filesystem>
#include <iostream>
#include <new>
#include <system_error>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/help_formatter.h"
#include "cli/interrupt.h"
#include "cli/options/backend_options.h"
#include "cli/options/source_options.h"
#include "cli/options/unknown_option.h"
#include "cli/options/whole_numbers.h"
#include "cli/version.h"
#include "data/error.h"
#include "input/model_place.h"
#include "input/own_files.h"
#include "window/run_window.h"

namespace fovea {
namespace {

constexpr int internal_error = 1, wrong_command_line = 2, unavailable = 4;

int complain(int status, const std::string& message) {
  std::cerr << "fovea: " << printable(message) << '\n';
  return status;
}

int complain(const Error& error) {
  return complain(error.status(), error.what());
}

/// The only place where errors become a message and an exit status.
int guarded(const std::function<int()>& work) {
  try {
    return work();
  } catch (const Cancelled& cancelled) {
    return complain(cancelled.status(), "stopped");
  } catch (const Error& error) {
    return complain(error);
  } catch (const std::bad_alloc&) {
    return complain(unavailable, "not enough memory");
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = error.path1().string();
    return complain(InputError(path, "cannot be reached: " + error.code().message()));
  } catch (const std::exception& error) {
    const auto* system = dynamic_cast<const std::system_error*>(&error);
    if (system && system->code() == std::errc::resource_unavailable_try_again)  // of std::thread
      return complain(unavailable, "not enough memory, or too many threads, to start a thread");
    return complain(internal_error, std::string("internal error: ") + error.what());
  }
}

void require_written() {
  if (!std::cout.flush()) throw UnavailableError("standard output: cannot be written");
}

int run_command(const Work& work, std::vector<std::string> words) {
  return guarded([&] {
    Interrupt interrupt;
    work(
        {.out = std::cout, .err = std::cerr, .stop = interrupt.token(), .words = std::move(words)});
    require_written();
    return 0;
  });
}

/// A misspelt command looks like a file name. It is reported here, rather than opened as an empty
/// window.
void check_files(const std::vector<std::string>& files) {
  for (const auto& file : files)
    if (std::error_code unknown; file.find_first_of("./:") == std::string::npos &&
                                 !std::filesystem::exists(file, unknown) && !names_model(file))
      throw UsageError(fovea::quoted(file) +
                       " is neither a command nor a file (fovea --help lists the commands)");
}

}  // namespace

int run(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is reported like a full disk
  use_own_plugins();
  CLI::App program("Fovea, a microscope for attention. Without a command it opens the window.",
                   "fovea");
  program.formatter(std::make_shared<HelpFormatter>());
  program.set_version_flag("--version", std::function<std::string()>(version_text),
                           "Print version, commit, compiler and back ends");
  program.set_help_all_flag("--help-all", "The options of every command");
  program.footer(
      "Exit status: 0 done, 1 internal error, 2 wrong command line, 3 bad input, 4 unavailable "
      "(back "
      "end,\n"
      "display, memory, disk), 5 items of a sweep failed, 130 stopped by Ctrl-C.");
  std::vector<std::string> files;
  program.add_option(
      "FILE", files,
      "Files to open, each in a window of its own; live:NAME waits for a program that sends NAME "
      "(default: the last session, or the bundled example)");
  SourceOptions model;
  model.add_model_to(program);
  BackendOptions backend;
  backend.add_to(program);
  std::optional<std::uint16_t> port;
  program
      .add_option("--listen", port,
                  "Take what programs send (fovea.show) on this TCP port of this machine, too, "
                  "with a token: the window prints which file holds it; 0: any free port")
      ->type_name("PORT")
      ->check(CLI::Range(0, 65535));
  program.require_subcommand(0, 1);
  Work chosen;
  add_info_command(program, chosen);
  add_variants_command(program, chosen);
  add_compute_command(program, chosen);
  add_fit_command(program, chosen);
  add_rankmap_command(program, chosen);
  add_render_command(program, chosen);
  add_report_command(program, chosen);
  add_pareto_command(program, chosen);
  add_heads_command(program, chosen);
  add_spans_command(program, chosen);
  add_effect_command(program, chosen);
  add_paper_command(program, chosen);
  add_sweep_command(program, chosen);
  add_bench_command(program, chosen);
  add_serve_command(program, chosen);
  add_self_test_command(program, chosen);
  add_read_picture_command(program, chosen);
  add_memory(program);
  add_describe_command(program, chosen);
  read_whole_numbers_as_decimal(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0)  // --help, --version
      return guarded([&] {
        program.exit(error);
        require_written();
        return 0;
      });
    const bool is_left_open = dynamic_cast<const CLI::RequiredError*>(&error) ||
                              dynamic_cast<const CLI::ExtrasError*>(&error);
    const std::string unknown = is_left_open ? unknown_option_text(program) : "";
    return complain(wrong_command_line, unknown.empty() ? error.what() : unknown);
  }
  if (chosen && port)
    return complain(wrong_command_line, "--listen applies to the window; commands do not take it");
  for (const char* name : {"--backend", "--precision", "--threads", "--memory", "--text", "--input",
                           "--decoder-text", "--max-tokens", "--python", "--trust-remote-code"})
    if (chosen && program.count(name) > 0)
      return complain(wrong_command_line, std::string(name) + " belongs after its command");
  if (chosen && !files.empty())
    return complain(wrong_command_line,
                    "'" + files.front() + "' stands before the command: SOURCE belongs after it");
  if (chosen) return run_command(chosen, {argv, argv + argc});
  return guarded([&] {
    for (const auto& [option, key] : {std::pair("--max-tokens", "max_tokens=N"),
                                      std::pair("--decoder-text", "decoder_text=TEXT")})
      if (program.count(option) > 0 && !model.model_text && !model.model_input)
        throw UsageError(std::string(option) +
                         " goes with --text or --input here; in an address, expected " + key);
    if (model.model_text || model.model_input) {
      if (files.size() != 1)
        throw UsageError("--text and --input go with one model: " + std::to_string(files.size()) +
                         " files are named");
      model.what = files.front();
      files.front() = model.address();
    }
    check_files(files);
    return run_window(argc, argv, files, backend, port, program.count("--memory") == 0);
  });
}

}  // namespace fovea

/// Uses half a megabyte of the main thread's stack, so that it grows now: if it grew later, when
/// limited memory has run out, the process would end without a message.
[[gnu::noinline]] static void use_stack() {
  volatile char pages[512 << 10];
  for (std::size_t at = 0; at < sizeof pages; at += 4096) pages[at] = 0;
}

int main(int argc, char** argv) {
  use_stack();
  fovea::require_home();
  return fovea::run(argc, argv);
}
