// The memory budget: what one action (computing attention, a matrix, a figure, opening a file) may
// take. Code that is about to allocate much asks first, because the system grants any amount and
// kills the program when it uses the memory. The budget, like the memory, belongs to the process.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fovea {

/// Bytes that one action may take of the memory of the machine, and of the memory of a device.
/// Without a value, the default, it is half of what is free at the time of the request. It is never
/// more than what is free. Any thread may call these.
void set_memory_budget(std::optional<std::size_t> bytes);
std::optional<std::size_t> memory_budget();

/// "16G", "800M", "1.5 GiB": bytes, in units of 1024, at least smallest_checked. "half": nothing.
/// Throws UsageError.
std::optional<std::size_t> parse_memory_budget(std::string_view text);

/// Bytes that can be used without swapping, within the control groups and the limits of the
/// process; unlimited if the system does not report it. `root` is the file system in which the
/// system reports it.
std::size_t free_memory(const std::string& root = "");

/// Requests below this are not checked: checking reads /proc.
inline constexpr std::size_t smallest_checked = std::size_t{64} << 20;

/// Advice if the length of a head decides how much memory is needed.
inline constexpr char fewer_tokens[] = "Fewer tokens need less";

/// Bytes that one action may take now.
std::size_t allowed_memory();

/// Throws UnavailableError unless the budget and the free memory allow this many bytes. The message
/// says what needs them (`what`: "exact attention of 131072 tokens"), how much is allowed, and what
/// to do. `advice` says what needs less memory, as a sentence without its full stop; empty if
/// nothing is known.
void require_memory(double bytes, const std::string& what, const std::string& advice = "");

/// The same of a device called `device` with so many bytes free, for the attention of a head.
void require_device_memory(double bytes, double free, const std::string& what,
                           const std::string& device);

/// Uninitialised; throws as require_memory.
std::shared_ptr<std::byte[]> allocate_bytes(std::size_t bytes, const std::string& what);

}  // namespace fovea
