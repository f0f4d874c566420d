// Sessions in files of their own, and in figures and reports.
#include <QString>
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <span>

#include "data/address.h"
#include "data/error.h"
#include "data/synthetic.h"
#include "figure/recipe.h"
#include "input/model_place.h"
#include "input/open_source.h"
#include "input/recorded_command.h"
#include "input/session_file.h"
#include "io/atomic_file.h"
#include "io/file_bytes.h"

namespace fovea {
namespace {

constexpr Index largest_session = 4 << 20;  // that of a figure is found within recipe_reach

bool is_named(const std::string& path, const char* ending) {
  return QString::fromStdString(path).endsWith(ending, Qt::CaseInsensitive);
}

bool is_figure_or_report(const std::string& path) {
  return is_named(path, ".png") || is_named(path, ".svg") || is_named(path, ".pdf") ||
         is_named(path, ".html") || is_named(path, ".htm");
}

QByteArray part_of(const FileBytes& file, Index begin, Index size) {
  QByteArray bytes(size, '\0');
  file.read(begin, std::as_writable_bytes(std::span(bytes.data(), std::size_t(size))));
  return bytes;
}

/// Nothing if the file is no figure or report of Fovea. Reads little of a large file.
std::optional<Recipe> recipe_of(const FileBytes& file) {
  const Index size = std::min<Index>(file.size(), recipe_reach);
  const QByteArray begin = part_of(file, 0, size);
  return recipe_in(begin, size == file.size() ? begin : part_of(file, file.size() - size, size));
}

/// Why one cannot go on from a figure without a session. The command is what the file says.
std::string without_session(const std::string& command) {
  if (command.empty())
    return "carries no session: it was written without one, or another program has changed it; "
           "open its source instead";
  if (is_command_of_fovea(command)) return "carries no session; this command makes it: " + command;
  if (is_call_of_fovea(command))
    return "carries no session; a program made it by " + command + " and has the arrays";
  return "carries no session, and in place of a command of Fovea another text; open its source "
         "instead";
}

SessionFile session_of_figure(const FileBytes& file) {
  const std::string& path = file.path();
  const auto recipe = recipe_of(file);
  if (!recipe) throw InputError(path, "is no figure or report of Fovea, or is cut off");
  if (recipe->session.empty()) throw InputError(path, without_session(recipe->command));
  if (std::ssize(recipe->session) > largest_session)
    throw InputError(path, "carries a session of " + std::to_string(recipe->session.size()) +
                               " bytes; expected at most 4 MiB");
  return session_from(path, recipe->session);
}

std::vector<std::string> sources_of(const Session& session) {
  std::vector<std::string> sources{session.source};
  for (const Column& column : session.columns)
    if (column.held && !column.held->source.empty()) sources.push_back(column.held->source);
  return sources;
}

/// The file of a source, or the file that its model reads, of whatever kind; empty if there is
/// none.
std::string file_of(const std::string& source) {
  if (const auto [prefix, inner] = unwrap(source); !prefix.empty())
    return file_of(std::string(inner));
  if (!is_model_address(source)) return is_address(source) ? "" : source;
  try {
    return parse_model_address(source).input.value_or("");
  } catch (const UsageError&) {  // opening it says why
    return "";
  }
}

bool is_hash(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace

void write_session(const std::string& path, const SessionFile& file) {
  const std::string text = text_of(file);
  write_atomically(path, [&](std::ostream& out) { out << text; });
}

SessionFile read_session(const std::string& path) {
  const FileBytes file(path);
  if (is_figure_or_report(path)) return session_of_figure(file);
  if (file.size() > largest_session)
    throw InputError(
        path, std::to_string(file.size()) + " bytes; expected a session file of at most 4 MiB");
  return session_from(path, file.text());
}

bool is_session_file(const std::string& path) {
  if (!is_figure_or_report(path) && !is_named(path, ".json")) return false;
  try {
    const FileBytes file(path);
    if (is_figure_or_report(path))  // even if it is damaged: reading it says so
      return is_report(part_of(file, 0, std::min<Index>(file.size(), 1024)).toStdString()) ||
             recipe_of(file).has_value();
    // Fovea sorts names when it writes. A session has this name somewhere; a file of tokens does
    // not have it as a key.
    return part_of(file, 0, std::min(file.size(), largest_session)).contains("\"fovea_session\"");
  } catch (const Error&) {  // opening it says why
    return false;
  }
}

std::string missing_of(const std::string& source) {
  std::error_code unknown;
  const auto is_missing = [&](const std::string& path) {
    return !std::filesystem::exists(path, unknown);
  };
  if (const auto [prefix, inner] = unwrap(source); !prefix.empty())
    return missing_of(std::string(inner));
  if (source.starts_with(synthetic_prefix)) return "";
  if (is_model_address(source)) try {
      const ModelAddress address = parse_model_address(source);
      try {
        find_model(address.folder);
      } catch (const Error&) {
        return address.folder;
      }
      return address.input && is_missing(*address.input) ? *address.input : "";
    } catch (const UsageError&) {  // the session was edited by hand
      return source;
    }
  const std::string path = file_of(source);
  return is_missing(path) ? path.empty() ? source : path : "";
}

std::string with_found(const std::string& source, const std::string& missing,
                       const std::string& found) {
  if (const auto [prefix, inner] = unwrap(source); !prefix.empty())
    return std::string(prefix) + with_found(std::string(inner), missing, found);
  if (!is_model_address(source) || missing == source) return found;
  ModelAddress address = parse_model_address(source);
  (address.input && missing != address.folder ? *address.input : address.folder) = found;
  return to_text(address);
}

bool is_source_there(const std::string& source) {
  return missing_of(source).empty();
}

std::vector<std::string> files_of(const Session& session) {
  std::vector<std::string> files;
  for (const std::string& source : sources_of(session))
    if (const std::string file = file_of(source);
        !file.empty() && std::ranges::find(files, file) == files.end())
      files.push_back(file);
  return files;
}

ContentElsewhere content_elsewhere(const std::string& path, const SessionFile& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto own = fs::weakly_canonical(fs::absolute(path).parent_path(), error);
  ContentElsewhere out;
  for (const std::string& source : sources_of(file.session)) {
    const std::string one = file_of(source);
    const bool shown = is_model_address(innermost(source)) || is_words_or_picture(one);
    if (one.empty() || !fs::is_regular_file(one, error) || !shown ||
        fs::weakly_canonical(one, error).parent_path() == own)
      continue;
    // A session states only the hash of its source.
    if (in_own_order(source) == in_own_order(file.session.source) && is_hash(file.content_hash))
      out.needs_hash = true;
    else if (out.unknown.empty())
      out.unknown = one;
  }
  return out;
}

void require_source(const std::string& path, const SessionFile& file) {
  const std::string missing = missing_of(file.session.source);
  if (missing.empty()) return;
  throw InputError(path,
                   "its session's source " + missing + " is no longer there; put it back" +
                       (file.content_hash.empty() ? "" : " (SHA-256 " + file.content_hash + ")") +
                       ", or open " + path + " in the window, which asks where it is");
}

}  // namespace fovea
