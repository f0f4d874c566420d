#include "cli/options/backend_options.h"

#include "backend/backends.h"
#include "data/error.h"
#include "data/memory.h"

namespace fovea {

void add_memory(CLI::App& command) {
  const auto check = [](const std::string& text) {
    try {
      parse_memory_budget(text);
      return std::string();
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
  };
  command
      .add_option_function<std::string>(
          "--memory", [](const std::string& text) { set_memory_budget(parse_memory_budget(text)); },
          "Memory that one action may take, such as 16G, at least 64M, or half: half of what is "
          "free; what needs more is refused before it begins (default: half)")
      ->check(check)
      ->type_name("SIZE");
  for (CLI::App* below : command.get_subcommands([](CLI::App*) { return true; }))
    add_memory(*below);
}

void BackendOptions::add_to(CLI::App& command) {
  command.add_option("--backend", backend, "auto, cpu or cuda")
      ->check(CLI::IsMember(backend_choices()))
      ->capture_default_str();
  command
      .add_option("--precision", precision,
                  "Precision of products: fp32; with CUDA also, on tensor cores, bf16, fp16 and "
                  "fp32-split, which has the errors of fp32; with --backend auto, fp32 uses "
                  "fp32-split where that is expected to be faster")
      ->check(CLI::IsMember(precision_choices()))
      ->capture_default_str();
  command
      .add_option("--threads", threads, "CPU threads, also used beside CUDA; 0: one for each core")
      ->check(CLI::Range(0, 1024));
}

std::unique_ptr<Backend> BackendOptions::make(std::ostream& notes) const {
  std::vector<std::string> sentences;
  auto made = make_backend(*this, &sentences);
  for (const std::string& sentence : sentences) notes << "fovea: " << sentence << '\n';
  return made;
}

}  // namespace fovea
