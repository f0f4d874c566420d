// Turns words of figures into LaTeX.
#pragma once

#include <string>

namespace fovea {

/// In text mode, for pdflatex and newer programs. Characters without letters in pdflatex become
/// \foveachar{CHARACTER}{U+XXXX}, of which `foveachar_definition` takes the one that the program
/// can write.
std::string latex_text(const std::string& words);

inline constexpr const char* foveachar_definition =
    "\\providecommand\\foveachar[2]{\\ifdefined\\directlua#1\\else"
    "\\ifdefined\\XeTeXversion#1\\else\\texttt{#2}\\fi\\fi}%\n";

}  // namespace fovea
