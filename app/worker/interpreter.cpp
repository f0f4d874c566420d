#include "worker/interpreter.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>

#include "data/error.h"
#include "data/utf8.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

std::mutex mutex;
Interpreter chosen_for_process;
std::string setting_of_window;
std::set<std::string> trusted;

bool is_program(const fs::path& path) {
  std::error_code unknown;
  return fs::is_regular_file(path, unknown) && ::access(path.c_str(), X_OK) == 0;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The program of this name on the PATH; a name with a folder is taken as it is. Empty if there is
/// none.
std::string program_named(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? fs::absolute(name) : "";
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (folder.starts_with('/') && is_program(fs::path(folder) / name))
      return fs::path(folder) / name;
  return "";
}

}  // namespace

void choose_interpreter(Interpreter chosen) {
  const std::lock_guard lock(mutex);
  chosen_for_process = std::move(chosen);
}

void set_interpreter_setting(const std::string& path) {
  const std::lock_guard lock(mutex);
  setting_of_window = path;
}

Interpreter find_interpreter() {
  const std::lock_guard lock(mutex);
  for (const Interpreter& named :
       {chosen_for_process, Interpreter{variable("FOVEA_PYTHON"), "FOVEA_PYTHON"},
        Interpreter{setting_of_window, "the setting"}}) {
    if (named.path.empty()) continue;
    const std::string path = program_named(named.path);
    if (path.empty())
      throw UnavailableError(named.named + " names " + fovea::quoted(named.path) +
                             ", which is no program; expected an interpreter of Python, such as "
                             "/usr/bin/python3");
    return {path, named.named};
  }
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string folder = variable(name);
    if (!folder.empty() && is_program(fs::path(folder) / "bin/python"))
      return {fs::path(folder) / "bin/python", "the active environment"};
  }
  if (const std::string path = program_named("python3"); !path.empty()) return {path, "the PATH"};
  throw UnavailableError(
      "no Python is found, which computes models that Fovea does not compute itself; install "
      "python3 with torch and transformers, or name one with --python or FOVEA_PYTHON");
}

void trust_code_of(const std::string& model) {
  const std::lock_guard lock(mutex);
  trusted.insert(model);
}

bool trusts_code_of(const std::string& model) {
  const std::lock_guard lock(mutex);
  return trusted.contains(model);
}

}  // namespace fovea
