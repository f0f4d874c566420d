// Parsers of sessions and figures, of plans and results of sweeps, of what programs send, and of
// words.
#pragma once

#include <string>

namespace fovea::test {

/// Parses a figure with its session.
void parse_figure(const std::string& bytes);
void parse_session(const std::string& bytes);
void parse_sweep_plan(const std::string& bytes);
/// Parses rows, one a line, of the plan "p" with 8 items.
void parse_sweep_results(const std::string& bytes);
/// Parses what a program sends, whole and in pieces.
void parse_wire(const std::string& bytes);
/// Parses a synthetic source after "synthetic:". Large heads are not made.
void parse_synthetic(const std::string& bytes);
/// Parses the address of a model after "model:".
void parse_model_address(const std::string& bytes);
/// Parses VARIANT.PARAMETER=VALUE, and a layout.
void parse_setting(const std::string& bytes);

}  // namespace fovea::test
