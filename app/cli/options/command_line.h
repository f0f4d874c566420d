// Writes a command line so that a person can type it again.
#pragma once

#include <string>
#include <vector>

namespace fovea {

/// A word, quoted for a shell if necessary; in ASCII if the word is not UTF-8.
std::string shell_word(const std::string& word);

/// The command line of these words. The program is called fovea wherever it lies, and `output` is
/// called figure.png or the like, after `stem`, so that equal figures are equal files whatever
/// their names.
std::string command_line(const std::vector<std::string>& words, const std::string& output,
                         const std::string& stem = "figure");

}  // namespace fovea
