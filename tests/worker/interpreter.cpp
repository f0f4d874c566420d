// Which Python computes models: what is said first wins.
#include "worker/interpreter.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "data/error.h"
#include "harness.h"
#include "messages.h"
#include "temporary_directory.h"

namespace fovea::test {
namespace {

std::string program_at(const std::string& path) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << "#!/bin/sh\n";
  ::chmod(path.c_str(), 0700);
  return path;
}

/// A variable of the environment, as it was before at the end of the scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Variable() { set(old_); }
  void set(const std::string& value) const {
    value.empty() ? ::unsetenv(name_) : ::setenv(name_, value.c_str(), 1);
  }

 private:
  const char* name_;
  std::string old_;
};

TEST_CASE(
    "the interpreter is that of the option, the variable, the setting, the environment, the PATH") {
  const TemporaryDirectory folder;
  const std::string option = program_at((folder / "option")),
                    variable = program_at((folder / "variable")),
                    setting = program_at((folder / "setting")),
                    active = program_at((folder / "venv/bin/python")),
                    conda = program_at((folder / "conda/bin/python")),
                    common = program_at((folder / "bin/python3"));
  const Variable path("PATH", (folder / "bin")), own("FOVEA_PYTHON", variable),
      venv("VIRTUAL_ENV", (folder / "venv")), base("CONDA_PREFIX", (folder / "conda"));
  choose_interpreter({option, "--python"});
  set_interpreter_setting(setting);
  CHECK(find_interpreter().path == option);
  CHECK(find_interpreter().named == "--python");
  choose_interpreter({});
  CHECK(find_interpreter().path == variable);
  own.set("");
  CHECK(find_interpreter().path == setting);
  set_interpreter_setting("");
  CHECK(find_interpreter().path == active);
  venv.set("");
  CHECK(find_interpreter().path == conda);
  base.set("");
  CHECK(find_interpreter().path == common);
  own.set("python3");  // a name is looked up
  CHECK(find_interpreter().path == common);
  own.set((folder / "nowhere"));
  CHECK(message_of<UnavailableError>(find_interpreter).find("FOVEA_PYTHON names") == 0);
  own.set("");
  path.set((folder / "empty"));
  CHECK(message_of<UnavailableError>(find_interpreter).find("install python3") !=
        std::string::npos);
}

}  // namespace
}  // namespace fovea::test
