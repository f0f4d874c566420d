// The options that choose what computes, and how much memory it may take.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "backend/backend.h"
#include "input/backend_choice.h"

namespace fovea {

/// `--memory` of a command, and of the commands below it. It holds for the process.
void add_memory(CLI::App& command);

/// What computes.
struct BackendOptions : BackendChoice {
  void add_to(CLI::App& command);
  /// Writes to `notes` what is not available.
  std::unique_ptr<Backend> make(std::ostream& notes) const;
};

}  // namespace fovea
