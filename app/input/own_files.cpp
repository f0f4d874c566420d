#include "input/own_files.h"

#include <QCoreApplication>
#include <QDir>
#include <QFontDatabase>
#include <cstdlib>

#include "input/assets.h"

namespace fovea {

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
