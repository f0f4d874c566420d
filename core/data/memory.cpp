#include "data/memory.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "data/error.h"
#include "data/number_text.h"

namespace fovea {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::atomic<std::size_t> chosen = 0;  // 0: half of what is free

/// The number in a file; nothing if there is no such file, or it says "max".
std::optional<std::size_t> number_in(const std::string& path) {
  std::ifstream in(path);
  std::size_t number = 0;
  if (in >> number) return number;
  return {};
}

/// The number after `key` in the line that begins with it; nothing if there is none.
std::optional<std::size_t> number_after(const std::string& key, const std::string& path) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key) || line.find_first_of(" \t", key.size()) != key.size()) continue;
    const std::size_t digits = line.find_first_not_of(" \t", key.size());
    std::size_t number = 0;
    const char* const end = line.data() + line.size();
    if (digits != std::string::npos &&
        std::from_chars(line.data() + digits, end, number).ec == std::errc())
      return number;
  }
  return {};
}

/// Names of the same files and keys in the two versions of control groups.
struct GroupFiles {
  std::string limit, used;
  std::vector<std::string> cache;  // keys of memory.stat
};

/// Bytes that are free in a group and in all groups around it. Pages of files count as used, but as
/// free here: the kernel gives them up, active or not, before it refuses memory.
std::size_t free_in_groups(const std::string& mount, std::string group, const GroupFiles& files) {
  std::size_t least = unlimited;
  while (true) {
    const std::string folder = mount + group + "/";
    const auto limit = number_in(folder + files.limit), used = number_in(folder + files.used);
    if (limit && used) {
      std::size_t cache = 0;
      for (const std::string& key : files.cache)
        cache += number_after(key, folder + "memory.stat").value_or(0);
      const std::size_t held = *used - std::min(*used, cache);
      least = std::min(least, *limit - std::min(*limit, held));
    }
    if (group.empty()) return least;
    group.resize(group.find_last_of('/'));
  }
}

/// Lines "hierarchy:controllers:/group"; of version 2 "0::/group".
std::size_t free_in_groups(const std::string& root) {
  std::ifstream in(root + "/proc/self/cgroup");
  std::size_t least = unlimited;
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos || line.compare(second + 1, 1, "/") != 0) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers == ",,")
      least = std::min(
          least,
          free_in_groups(root + "/sys/fs/cgroup", group,
                         {"memory.max", "memory.current", {"inactive_file", "active_file"}}));
    else if (controllers.find(",memory,") != std::string::npos)
      least = std::min(least, free_in_groups(root + "/sys/fs/cgroup/memory", group,
                                             {"memory.limit_in_bytes",
                                              "memory.usage_in_bytes",
                                              {"total_inactive_file", "total_active_file"}}));
  }
  return least;
}

/// What the limits of the process leave, which batch systems set (ulimit -v, ulimit -d).
std::size_t free_in_process(const std::string& root) {
  std::size_t least = unlimited;
  for (const auto& [limit, used] :
       {std::pair{"Max address space", "VmSize:"}, {"Max data size", "VmData:"}}) {
    const auto most = number_after(limit, root + "/proc/self/limits");
    const auto kibibytes = number_after(used, root + "/proc/self/status");
    if (most && kibibytes) least = std::min(least, *most - std::min(*most, *kibibytes * 1024));
  }
  return least;
}

/// "--memory 16G" that allows so many bytes.
std::string option_for(double bytes) {
  constexpr double gibibyte = 1 << 30;
  return "--memory " + std::to_string(static_cast<long long>(std::ceil(bytes / gibibyte))) + "G";
}

/// How many of the `free` bytes may be used.
double allowed_of(double free) {
  const auto budget = memory_budget();
  return std::min(free, budget ? static_cast<double>(*budget) : free / 2);
}

void require(double bytes, double free, const std::string& what, const std::string& of,
             const std::string& advice) {
  if (bytes < static_cast<double>(smallest_checked)) return;
  const auto budget = memory_budget();
  const double allowed = allowed_of(free);
  if (bytes <= allowed) return;
  const std::string needs = what + ": " + format_bytes(bytes) + " of memory needed" + of;
  if (bytes > free)
    throw UnavailableError(needs + ", " + format_bytes(free) + " free." +
                           (advice.empty() ? "" : " " + advice + "."));
  throw UnavailableError(needs + "; the budget is " + format_bytes(allowed) +
                         (budget ? "" : ", half of what is free") + ". " +
                         (advice.empty() ? "" : advice + "; ") + option_for(bytes) +
                         ", or Compute > Memory budget in the window, allows more.");
}

}  // namespace

void set_memory_budget(std::optional<std::size_t> bytes) {
  chosen = bytes ? std::max<std::size_t>(*bytes, 1) : 0;
}

std::optional<std::size_t> memory_budget() {
  const std::size_t bytes = chosen;
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

std::optional<std::size_t> parse_memory_budget(std::string_view text) {
  const UsageError bad("memory budget '" + std::string(text) +
                       "'; expected a size such as 16G or 800M, at least 64M, or half: half of "
                       "what is free");
  if (text == "half") return {};
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit(rest, text.data() + text.size());
  std::erase(unit, ' ');
  for (char& c : unit)
    if ('a' <= c && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  for (const char* ending : {"IB", "B"})
    if (unit.ends_with(ending)) {
      unit.resize(unit.size() - std::string_view(ending).size());
      break;
    }
  const std::size_t power = std::string_view("KMGT").find(unit) + 1;
  if (error != std::errc() || unit.size() > 1 || (!unit.empty() && power == 0)) throw bad;
  const double bytes = number * std::pow(1024.0, unit.empty() ? 0.0 : static_cast<double>(power));
  if (!(bytes >= static_cast<double>(smallest_checked) && bytes < 0x1p60)) throw bad;
  return static_cast<std::size_t>(bytes);
}

std::size_t free_memory(const std::string& root) {
  const auto kibibytes = number_after("MemAvailable:", root + "/proc/meminfo");
  const std::size_t of_machine = kibibytes ? *kibibytes * 1024 : unlimited;
  return std::min({of_machine, free_in_groups(root), free_in_process(root)});
}

std::size_t allowed_memory() {
  return static_cast<std::size_t>(allowed_of(free_memory()));
}

void require_memory(double bytes, const std::string& what, const std::string& advice) {
  if (bytes < static_cast<double>(smallest_checked)) return;
  require(bytes, free_memory(), what, "", advice);
}

void require_device_memory(double bytes, double free, const std::string& what,
                           const std::string& device) {
  require(bytes, free, what, " on " + device, fewer_tokens);
}

std::shared_ptr<std::byte[]> allocate_bytes(std::size_t bytes, const std::string& what) {
  require_memory(bytes, what);
  try {
    return std::shared_ptr<std::byte[]>(new std::byte[bytes]);
  } catch (const std::bad_alloc&) {
    throw UnavailableError(what + ": " + format_bytes(bytes) +
                           " of memory needed, which the system refuses");
  }
}

}  // namespace fovea
