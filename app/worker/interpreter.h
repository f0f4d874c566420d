// Chooses the Python that computes models other than those of Fovea's own encoder.
#pragma once

#include <string>

namespace fovea {

struct Interpreter {
  std::string path;   // "/usr/bin/python3"
  std::string named;  // who named it: "--python", "FOVEA_PYTHON", ...
};

/// Chooses the interpreter of this process, which comes before all others. An empty path takes the
/// choice back.
void choose_interpreter(Interpreter chosen);

/// The one that was chosen, else that of $FOVEA_PYTHON, `setting`, the active virtual environment
/// ($VIRTUAL_ENV, $CONDA_PREFIX), or python3 on the PATH. Throws UnavailableError if there is none,
/// or if the named one does not exist.
Interpreter find_interpreter();

/// The interpreter of the window's settings, which comes after $FOVEA_PYTHON. Empty if nothing is
/// set.
void set_interpreter_setting(const std::string& path);

/// Lets code that comes with a model run in Python. The user must allow it for this very model,
/// given by the path of its folder.
void trust_code_of(const std::string& model);
bool trusts_code_of(const std::string& model);

}  // namespace fovea
