#include "input/own_files.h"

#include <pwd.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QDir>
#include <QFontDatabase>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "input/assets.h"

namespace fovea {

std::string own_program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fovea").string();
}

void require_home() {
  const auto is_home = [](const char* folder) {
    return folder && *folder == '/' && std::string_view(folder) != "/";
  };
  if (is_home(std::getenv("HOME"))) return;
  const passwd* user = ::getpwuid(::geteuid());
  setenv("HOME", user && is_home(user->pw_dir) ? user->pw_dir : "/dev/null", 1);
}

void use_own_plugins() {
  const std::string plugins = own_plugins_directory();
  if (!plugins.empty()) QCoreApplication::setLibraryPaths({QString::fromStdString(plugins)});
}

void configure_fonts() {
  const std::string fonts = own_fonts_directory();
  if (fonts.empty() || QFile::exists("/etc/fonts/fonts.conf")) return;
  if (std::getenv("FONTCONFIG_PATH") == nullptr)
    setenv("FONTCONFIG_FILE", (fonts + "/fonts.conf").c_str(), 0);
}

void add_own_fonts() {
  const std::string fonts = own_fonts_directory();
  if (fonts.empty()) return;
  const QDir folder(QString::fromStdString(fonts));
  for (const QString& file : folder.entryList({"*.ttf"}, QDir::Files))
    QFontDatabase::addApplicationFont(folder.filePath(file));
}

}  // namespace fovea
