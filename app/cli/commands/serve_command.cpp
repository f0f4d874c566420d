// fovea serve: computes attention for another process, over standard input and output.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "cli/attention_server.h"
#include "cli/commands/commands.h"
#include "cli/options/backend_options.h"
#include "data/error.h"

namespace fovea {
namespace {

Descriptor copy_of(int number) {
  Descriptor copy(::fcntl(number, F_DUPFD_CLOEXEC, 3));
  if (!copy) throw UnavailableError("standard input or output is closed");
  return copy;
}

void run_serve(const BackendOptions& options, const Console& console) {
  if (::isatty(STDIN_FILENO))
    throw UsageError(
        "serve reads messages from another program, but its standard input is a terminal; "
        "fovea.replace of the Python package starts it");
  std::signal(SIGPIPE, SIG_IGN);  // writing to a program that has gone becomes an error
  MessageChannel channel(copy_of(STDIN_FILENO), copy_of(STDOUT_FILENO));
  ::dup2(STDERR_FILENO, STDOUT_FILENO);  // other output must not mix with messages
  const auto backend = options.make(console.err);
  AttentionServer(channel, *backend).run(console.stop);
}

}  // namespace

void add_serve_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "serve", "Compute variants for a program that runs a model, as fovea.replace of Python does");
  auto options = std::make_shared<BackendOptions>();
  options->add_to(*command);
  command->callback([&chosen, options] {
    chosen = [options](const Console& console) { run_serve(*options, console); };
  });
}

}  // namespace fovea
