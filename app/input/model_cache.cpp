#include "input/model_cache.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "data/error.h"
#include "data/text.h"
#include "io/file_bytes.h"
#include "io/folder.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view folder_prefix = "models--";

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

std::string home() {
  return variable("HOME").value_or("");
}

/// As Python's expanduser() and expandvars() do it for "~/models" and "$DATA/models".
std::string expanded(std::string path) {
  if (path == "~" || path.starts_with("~/")) path = home() + path.substr(1);
  const auto is_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (std::size_t at = path.find('$'); at != path.npos; at = path.find('$', at + 1)) {
    const bool braces = at + 1 < path.size() && path[at + 1] == '{';
    const std::size_t begin = at + 1 + braces;
    std::size_t end = begin;
    while (end < path.size() && is_of_name(path[end])) ++end;
    if (braces && (end == path.size() || path[end] != '}')) continue;
    const auto value = variable(path.substr(begin, end - begin).c_str());
    if (!value) continue;
    path.replace(at, end + braces - at, *value);
    at += value->size() - 1;  // wraps to 0 after an empty value at the beginning
  }
  return path;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

struct CacheName {
  std::string model;     // "ORG/NAME" or "NAME"
  std::string revision;  // empty for the usual one
  std::string file;      // a .gguf of the snapshot; empty if none is named

  std::string folder() const {
    return model_cache() + "/" + std::string(folder_prefix) + replaced(model, "/", "--");
  }
};

bool is_word(std::string_view text, std::string_view beside) {
  return !text.empty() && text.find("..") == text.npos && text.front() != '/' &&
         std::ranges::all_of(text, [&](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || beside.find(c) != beside.npos;
         });
}

std::optional<CacheName> parse_cache_name(const std::string& text) {
  CacheName out;
  std::string rest = text;
  if (rest.ends_with(".gguf")) {
    const std::size_t slash = rest.rfind('/');
    if (slash == rest.npos) return {};
    out.file = rest.substr(slash + 1);
    rest.resize(slash);
  }
  const std::size_t at = rest.find('@');
  out.model = rest.substr(0, at);
  if (at != rest.npos) out.revision = rest.substr(at + 1);
  if (!is_word(out.model, "._-/") || std::ranges::count(out.model, '/') > 1 ||
      out.model.ends_with('/') || (at != rest.npos && !is_word(out.revision, "._-/")) ||
      (!out.file.empty() && !is_word(out.file, "._-")))
    return {};
  return out;
}

bool is_folder(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

/// The folders of models, by name.
std::vector<std::string> model_folders() {
  std::vector<std::string> out;
  std::error_code error;
  fs::directory_iterator entry(model_cache(), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    if (entry->path().filename().string().starts_with(folder_prefix)) out.push_back(entry->path());
  std::ranges::sort(out);
  return out;
}

std::string name_of(const std::string& folder) {
  return replaced(fs::path(folder).filename().string().substr(folder_prefix.size()), "--", "/");
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// "NAME" of "ORG/NAME".
std::string last_part(const std::string& name) {
  return name.substr(name.rfind('/') + 1);
}

/// Completes a name of which only the last part was given: the one model with that last part.
CacheName completed(CacheName name) {
  if (name.model.find('/') != name.model.npos || is_folder(name.folder())) return name;
  std::vector<std::string> all;
  for (const std::string& folder : model_folders())
    if (last_part(name_of(folder)) == name.model) all.push_back(name_of(folder));
  if (all.size() > 1)
    throw InputError(name.model, "names several models of the cache, " + all[0] + " and " + all[1] +
                                     "; expected one of them");
  if (all.size() == 1) name.model = all[0];
  return name;
}

/// "the cache PATH has A, B and 3 more", the nearest ones first.
std::string others_than(const std::string& model) {
  std::vector<std::string> names;
  for (const std::string& folder : model_folders()) names.push_back(name_of(folder));
  if (names.empty()) return "the cache " + model_cache() + " has no models";
  const std::string asked = lower(last_part(model));
  const auto is_far = [&](const std::string& name) {
    constexpr std::size_t few = 4;
    const std::string other = lower(last_part(name));
    const auto same = std::ranges::mismatch(other, asked).in1 - other.begin();
    return other.find(asked) == other.npos && asked.find(other) == asked.npos &&
           static_cast<std::size_t>(same) < std::min(few, asked.size());
  };
  std::ranges::stable_sort(names, {}, is_far);
  constexpr std::size_t most = 5;
  std::string list = join(std::span(names).first(std::min(most, names.size())));
  if (names.size() > most) list += " and " + std::to_string(names.size() - most) + " more";
  return "the cache " + model_cache() + " has " + list;
}

std::string download_advice(const std::string& model) {
  return "Fovea downloads nothing: `hf download " + model + "` does";
}

bool has_unfinished_downloads(const std::string& folder) {
  std::error_code error;
  fs::directory_iterator entry(fs::path(folder) / "blobs", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    if (entry->path().extension() == ".incomplete") return true;
  return false;
}

/// A cache may come from elsewhere, and its links may lead to any file of the user.
void refuse_links_out_of(const std::string& cache, const std::string& snapshot) {
  const fs::path inside = fs::canonical(cache);
  const auto check = [&](const fs::path& path) {
    std::error_code nowhere;
    const fs::path target = fs::canonical(path, nowhere);
    if (nowhere || std::ranges::mismatch(inside, target).in1 == inside.end()) return;
    throw InputError(path, "leads out of the cache " + cache + ", to " + target.string() +
                               "; expected links within it. If that is yours, open its folder");
  };
  check(snapshot);
  std::error_code unreadable;
  for (fs::recursive_directory_iterator entry(snapshot, unreadable), end; entry != end;
       entry.increment(unreadable)) {
    if (unreadable) break;
    if (entry->is_symlink(unreadable)) check(entry->path());
  }
  if (unreadable) throw InputError(snapshot, "cannot be read: " + unreadable.message());
}

/// What can be opened in a folder of the cache: its snapshot, or the .gguf files in it.
std::vector<CachedModel> models_in(const std::string& folder) {
  CachedModel whole{.name = name_of(folder), .path = folder, .facts = {}, .problem = {}};
  try {
    whole.path = snapshot_in(folder, {});
    const std::string missing = missing_in_model(whole.path);
    std::vector<CachedModel> out;
    if (!missing.empty())
      for (const std::string& path : gguf_files(whole.path))
        out.push_back({.name = whole.name + "/" + fs::path(path).filename().string(),
                       .path = path,
                       .facts = model_facts(path),
                       .problem = {}});
    if (!out.empty()) return out;
    if (!missing.empty()) whole.problem = missing + how_to_complete(whole.path);
    whole.facts = model_facts(whole.path);
  } catch (const std::exception& error) {  // the model is broken: the others are still listed
    if (whole.problem.empty()) whole.problem = error.what();
  }
  return {whole};
}

}  // namespace

std::string model_cache() {
  const std::string caches = variable("XDG_CACHE_HOME").value_or(home() + "/.cache");
  const std::string at_home = expanded(variable("HF_HOME").value_or(caches + "/huggingface"));
  return expanded(variable("HF_HUB_CACHE")
                      .value_or(variable("HUGGINGFACE_HUB_CACHE").value_or(at_home + "/hub")));
}

std::vector<CachedModel> cached_models() {
  std::vector<CachedModel> out;
  for (const std::string& folder : model_folders())
    for (CachedModel& model : models_in(folder)) out.push_back(std::move(model));
  std::ranges::stable_sort(out, std::greater(),
                           [](const CachedModel& model) { return model.facts.used; });
  return out;
}

bool is_cached_model_folder(const std::string& folder) {
  return fs::path(folder).filename().string().starts_with(folder_prefix) &&
         is_folder(fs::path(folder) / "snapshots");
}

std::string snapshot_in(const std::string& folder, const std::string& revision) {
  const fs::path snapshots = fs::path(folder) / "snapshots",
                 ref = fs::path(folder) / "refs" / (revision.empty() ? "main" : revision);
  std::error_code unknown;
  if (fs::is_regular_file(ref, unknown)) {
    std::string hash = FileBytes(ref.string()).text();
    hash.erase(std::min(hash.find_first_of(" \r\n"), hash.size()));
    if (is_word(hash, "") && is_folder(snapshots / hash)) return snapshots / hash;
  }
  if (!revision.empty() && is_folder(snapshots / revision)) return snapshots / revision;
  std::string newest, all;
  for (const std::string& path : paths_in(snapshots)) {
    if (!is_folder(path)) continue;
    add_item(all, fs::path(path).filename().string());
    if (newest.empty() || fs::last_write_time(path, unknown) > fs::last_write_time(newest, unknown))
      newest = path;
  }
  if (!revision.empty())
    throw InputError(name_of(folder), "has no revision " + fovea::quoted(revision) +
                                          " in the cache; expected one of " + all);
  if (newest.empty())
    throw InputError(folder, "has no snapshot. " + download_advice(name_of(folder)));
  return newest;
}

bool is_in_cache(const std::string& name) {
  const auto parsed = parse_cache_name(name);
  if (!parsed) return false;
  try {
    return is_folder(completed(*parsed).folder());
  } catch (const InputError&) {  // several models have this name: opening it says which
    return true;
  }
}

std::string find_in_cache(const std::string& name) {
  const auto parsed = parse_cache_name(name);
  if (!parsed)
    throw InputError(name,
                     "does not exist; expected the folder of a model, a .gguf file, or ORG/NAME of "
                     "the local cache");
  const CacheName its = completed(*parsed);
  if (!is_folder(its.folder()))
    throw InputError(its.model, "is neither a file nor in the local cache: " +
                                    others_than(its.model) + ". " + download_advice(its.model));
  const std::string snapshot = snapshot_in(its.folder(), its.revision);
  refuse_links_out_of(model_cache(), snapshot);
  if (!its.file.empty()) {
    if (std::error_code unknown; fs::exists(fs::path(snapshot) / its.file, unknown))
      return snapshot + "/" + its.file;
    throw InputError(name, "is not in the snapshot. " + download_advice(its.model));
  }
  return snapshot;
}

std::string how_to_complete(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path().parent_path();
  if (!is_cached_model_folder(folder)) return {};
  return std::string(has_unfinished_downloads(folder) ? ", as a download has not ended" : "") +
         ". " + download_advice(name_of(folder));
}

}  // namespace fovea
