#include "cli/options/figure_names.h"

#include <QFontDatabase>
#include <QStringList>

#include "data/error.h"
#include "figure/pgf_file.h"

namespace fovea {

std::string installed_font(const std::string& name) {
  const QString family = QString::fromStdString(name);
  for (const QString& one : QFontDatabase::families())
    if (one.compare(family, Qt::CaseInsensitive) == 0) return one.toStdString();
  throw UsageError("--font " + name +
                   ": no font of this name is installed; `fc-list : family` lists those that are");
}

void add_no_session(CLI::App& command, bool& no_session) {
  command.add_flag("--no-session", no_session,
                   "Write no session, command, path or name of a source into the figure, as for "
                   "anonymous review");
}

void check_figure_name(const std::string& output, const std::string& option,
                       const std::string& others) {
  for (const char* ending : {".png", ".svg", ".pdf", ".pgf"})
    if (output.size() > 4 && output.ends_with(ending)) return require_pgf_name(output);
  throw UsageError(option + " " + output +
                   "; expected a name that ends in .png, .svg, .pdf or .pgf" + others);
}

}  // namespace fovea
