#include <chrono>

#include "backend/backends.h"
#include "cli/commands/commands.h"
#include "data/error.h"
#include "input/self_tests.h"
#include "io/json.h"
#include "session/self_test.h"

namespace fovea {

// fovea self-test: run by SelfTests. People use `fovea info --devices`.
void add_self_test_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand("self-test", "Hold the GPU against the CPU");
  command->group("");  // not in the list of commands
  auto precision = std::make_shared<std::string>("fp32");
  command->add_option("--precision", *precision)->check([](const std::string& name) {
    return options_of_verdict(name) ? "" : "no precision of this name";
  });
  command->callback([&chosen, precision] {
    chosen = [precision](const Console& console) {
      std::string why_not;
      CudaOptions options = options_of_verdict(*precision).value();
      options.poison = true;
      const auto cuda = make_cuda_backend(options, &why_not);
      if (!cuda) throw UnavailableError(why_not);
      const auto cpu = make_cpu_backend();
      Profile profile;
      Run run{profile, console.stop};
      const auto start = std::chrono::steady_clock::now();
      const std::string finding = self_test(*cuda, *cpu, run, {}, [&](const std::string& head) {
        console.out << Json{{"testing", head}} << std::endl;
      });
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      console.out << Json{{"finding", finding}, {"seconds", took.count()}} << '\n';
    };
  });
}

}  // namespace fovea
