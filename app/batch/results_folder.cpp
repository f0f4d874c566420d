#include "batch/results_folder.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "data/error.h"
#include "io/atomic_file.h"
#include "io/file_bytes.h"
#include "io/folder.h"
#include "io/json.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

bool is_journal(const std::string& name) {
  return name == "results.jsonl" ||
         (name.starts_with("results.shard-") && name.ends_with(".jsonl"));
}

/// The whole content of a file to which others append.
std::string text_so_far(const std::string& path) {
  require_readable_file(path);
  std::ifstream file(path, std::ios::binary);
  const auto unreadable = [&] {
    return InputError(path, "cannot be read: " + std::generic_category().message(errno));
  };
  if (!file) throw unreadable();
  try {
    return {std::istreambuf_iterator<char>(file), {}};
  } catch (const std::ios_base::failure&) {
    throw unreadable();
  }
}

}  // namespace

bool ResultsFolder::read_plan() {
  const std::string path = file("plan.json");
  if (!is_there(path)) return false;
  const Json document = parse_json(path, FileBytes(path).text());
  const auto good = [&](const char* key) { return document.contains(key); };
  if (!document.is_object() || !good("plan") || !document["plan"].is_string() || !good("items") ||
      !document["items"].is_number_unsigned())
    throw InputError(path, "is " + excerpt(document) +
                               "; expected the plan's fingerprint and its number of items");
  plan_ = document["plan"].get<std::string>();
  items_ = document["items"].get<std::size_t>();
  return true;
}

void ResultsFolder::prepare(const BatchItems& items, const std::stop_token& stop) {
  const std::string fingerprint = items.fingerprint(stop);
  std::error_code error;
  fs::create_directories(path_, error);
  if (std::error_code unknown; !fs::is_directory(path_, unknown))
    throw UnavailableError(
        path_ + " cannot be made: " + (error ? error.message() : "there is a file of this name"));
  require_writable(file("plan.json"));
  if (!is_there(file("plan.json"))) {
    if (journals().empty() && is_there(csv()))
      throw InputError(
          csv(), "exists without plan.json, as the file of another; choose another folder with -o");
    if (!journals().empty())
      throw InputError(path_, "holds results without plan.json; expected both, or neither");
    const Document made{{"plan", fingerprint},
                        {"items", items.size()},
                        {"from", items.plan().path},
                        {"version", FOVEA_VERSION}};
    write_atomically(file("plan.json"), [&](std::ostream& out) { print(out, made); });
  }
  read_plan();
  if (plan_ != fingerprint)
    throw InputError(path_, "holds results of another plan, or of sources that have changed (" +
                                plan_ + ", this is " + fingerprint +
                                "); choose another folder with -o, or remove this one");
}

void ResultsFolder::open() {
  if (!read_plan()) throw InputError(path_, "no plan.json; expected a folder of fovea sweep");
}

std::string ResultsFolder::journal(const Shard& shard) const {
  if (shard.of == 1) return file("results.jsonl");
  return file("results.shard-" + std::to_string(shard.number) + "-of-" + std::to_string(shard.of) +
              ".jsonl");
}

std::vector<std::string> ResultsFolder::journals() const {
  std::vector<std::string> found;
  for (const std::string& path : paths_in(path_))
    if (is_journal(fs::path(path).filename().string())) found.push_back(path);
  return found;
}

ResultsTable ResultsFolder::read() const {
  ResultsTable table(plan_, items_);
  for (const std::string& path : journals()) {
    std::error_code unknown;
    if (fs::file_size(path, unknown) == 0) continue;
    // Other processes may append to it meanwhile; a line that is not whole yet does not count.
    const std::string text = text_so_far(path);
    std::size_t line = 0, begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      table.add(path + " line " + std::to_string(++line), text.substr(begin, end - begin));
  }
  return table;
}

void ResultsFolder::write_csv(const ResultsTable& table) const {
  write_atomically(csv(), [&](std::ostream& out) { table.write_csv(out); });
}

ResultsTable ResultsFolder::merge() const {
  ResultsTable table = read();
  write_atomically(journal({}), [&](std::ostream& out) { table.write_lines(out); });
  write_csv(table);
  return table;
}

}  // namespace fovea
