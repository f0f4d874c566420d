// The commands of the program. Each adds itself to the command line. The one that is chosen returns
// its work; main runs it once and turns errors into exit statuses.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <ostream>
#include <stop_token>
#include <string>
#include <vector>

namespace fovea {

/// Where a command writes, and how it learns of Ctrl-C.
struct Console {
  std::ostream& out;  // results; with --json one document and nothing else
  std::ostream& err;  // notes and progress, for people
  std::stop_token stop;
  std::vector<std::string> words = {};  // of the command line, the program's name first
};

using Work = std::function<void(const Console& console)>;

void add_info_command(CLI::App& program, Work& chosen);
void add_variants_command(CLI::App& program, Work& chosen);
void add_compute_command(CLI::App& program, Work& chosen);
void add_fit_command(CLI::App& program, Work& chosen);
void add_rankmap_command(CLI::App& program, Work& chosen);
void add_render_command(CLI::App& program, Work& chosen);
void add_report_command(CLI::App& program, Work& chosen);
void add_pareto_command(CLI::App& program, Work& chosen);
void add_spans_command(CLI::App& program, Work& chosen);
void add_heads_command(CLI::App& program, Work& chosen);
void add_effect_command(CLI::App& program, Work& chosen);
void add_paper_command(CLI::App& program, Work& chosen);
void add_sweep_command(CLI::App& program, Work& chosen);
void add_bench_command(CLI::App& program, Work& chosen);
void add_serve_command(CLI::App& program, Work& chosen);
void add_self_test_command(CLI::App& program, Work& chosen);
void add_read_picture_command(CLI::App& program, Work& chosen);
void add_describe_command(CLI::App& program, Work& chosen);

}  // namespace fovea
