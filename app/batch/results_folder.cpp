#include "batch/results_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "data/error.h"
#include "io/atomic_file.h"
#include "io/folder.h"
#include "io/json.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr const char* plan_name = "plan.json";

bool is_journal(const std::string& name) {
  return name == "results.jsonl" ||
         (name.starts_with("results.shard-") && name.ends_with(".jsonl"));
}

}  // namespace

void ResultsFolder::open_directory() {
  directory_ = std::make_shared<const Directory>(path_);
  for (const char* name : {plan_name, csv_, "locks"}) directory_->has(name);  // throws for links
  for (const std::string& name : journals()) directory_->has(name);
}

bool ResultsFolder::read_plan() {
  if (!directory_->has(plan_name)) return false;
  const std::string path = directory_->path_of(plan_name);
  const Json document = parse_json(path, directory_->text(plan_name));
  const auto good = [&](const char* key) { return document.contains(key); };
  if (!document.is_object() || !good("plan") || !document["plan"].is_string() || !good("items") ||
      !document["items"].is_number_unsigned())
    throw InputError(path, "is " + excerpt(document) +
                               "; expected the plan's fingerprint and its number of items");
  plan_ = document["plan"].get<std::string>();
  items_ = document["items"].get<std::size_t>();
  return true;
}

void ResultsFolder::write_plan(const BatchItems& items, const std::string& fingerprint) const {
  // Rows are looked for before the plan, since another process that begins meanwhile writes its
  // plan first.
  const bool has_rows = !journals().empty(), has_table = directory_->has(csv_);
  if (directory_->has(plan_name)) return;
  if (has_rows)
    throw InputError(path_, "holds results without plan.json; expected both, or neither");
  if (has_table)
    throw InputError(
        csv(), "exists without plan.json, as the file of another; choose another folder with -o");
  const Document made{{"plan", fingerprint},
                      {"items", items.size()},
                      {"from", items.plan().path},
                      {"version", FOVEA_VERSION}};
  write_atomically(*directory_, plan_name, [&](std::ostream& out) { print(out, made); });
}

void ResultsFolder::prepare(const BatchItems& items, const std::stop_token& stop) {
  const std::string fingerprint = items.fingerprint(stop);
  std::error_code error;
  fs::create_directories(path_, error);
  if (std::error_code unknown; !fs::is_directory(path_, unknown))
    throw UnavailableError(
        path_ + " cannot be made: " + (error ? error.message() : "there is a file of this name"));
  if (::access(path_.c_str(), W_OK | X_OK) != 0)
    throw UnavailableError(path_ + " cannot be written: " + std::strerror(errno));
  open_directory();
  write_plan(items, fingerprint);
  read_plan();
  const auto differ = [this](const std::string& there, const std::string& here) {
    return InputError(path_, "holds results of another plan, or of sources that have changed (" +
                                 there + ", this is " + here +
                                 "); choose another folder with -o, or remove this one");
  };
  if (plan_ != fingerprint) throw differ(plan_, fingerprint);
  if (items_ != items.size())
    throw differ("a plan with " + std::to_string(items_) + " items",
                 "one with " + std::to_string(items.size()));
}

void ResultsFolder::open() {
  if (fs::is_directory(status_of(path_))) open_directory();
  if (!directory_ || !read_plan())
    throw InputError(path_, "no plan.json; expected a folder of fovea sweep");
}

std::string ResultsFolder::journal(const Shard& shard) {
  if (shard.of == 1) return "results.jsonl";
  return "results.shard-" + std::to_string(shard.number) + "-of-" + std::to_string(shard.of) +
         ".jsonl";
}

std::vector<std::string> ResultsFolder::journals() const {
  std::vector<std::string> found = directory_->names();
  std::erase_if(found, [](const std::string& name) { return !is_journal(name); });
  return found;
}

ResultsTable ResultsFolder::read() const {
  ResultsTable table(plan_, items_);
  for (const std::string& name : journals()) {
    // Other processes may append meanwhile; an unfinished line does not count.
    const std::string text = directory_->text(name), path = directory_->path_of(name);
    std::size_t line = 0, begin = 0;
    const auto where = [&] { return path + " line " + std::to_string(++line); };
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      table.add(where(), text.substr(begin, end - begin));
    require_part_of_row(where(), std::string_view(text).substr(begin));
  }
  return table;
}

void ResultsFolder::write_csv(const ResultsTable& table) const {
  write_atomically(*directory_, csv_, [&](std::ostream& out) { table.write_csv(out); });
}

ResultsTable ResultsFolder::merge() const {
  ResultsTable table = read();
  directory_->has(csv_);  // throws before anything is written
  write_atomically(*directory_, journal({}), [&](std::ostream& out) { table.write_lines(out); });
  write_csv(table);
  return table;
}

}  // namespace fovea
