// The memory budget: what is free, what is allowed of it, and what is said when it is not enough.
#include "data/memory.h"

#include <doctest/doctest.h>

#include "data/error.h"
#include "data/matrix.h"
#include "harness.h"
#include "memory_budget.h"
#include "messages.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr double gibibyte = 1 << 30;

std::string refusal_of(const auto& action) {
  try {
    action();
  } catch (const UnavailableError& error) {
    return error.what();
  }
  return "";
}

/// A file system in which the kernel reports what a test says.
struct Reported {
  TemporaryDirectory root;
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root / path).parent_path());
    root.write(path, text);
  }
};

}  // namespace

TEST_CASE("sizes of a budget are read in units of 1024, and everything else is refused") {
  CHECK(parse_memory_budget("16G") == std::size_t{16} << 30);
  CHECK(parse_memory_budget("1.5 GiB") == std::size_t{3} << 29);
  CHECK(parse_memory_budget("800m") == std::size_t{800} << 20);
  CHECK(parse_memory_budget("2TB") == std::size_t{2} << 40);
  CHECK(parse_memory_budget("100000000") == 100000000);
  CHECK(parse_memory_budget("70000000 B") == 70000000);
  CHECK(parse_memory_budget("64M") == smallest_checked);
  CHECK(parse_memory_budget("half") == std::nullopt);
  for (const char* bad : {"", "G", "-1G", "0", "16X", "16GG", "1e300G", "nan", "a lot", "16 G 2"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_memory_budget(bad), UsageError);
  }
}

TEST_CASE("a budget below what is checked would do nothing, and is refused") {
  for (const char* small : {"63M", "67108863", "4096", "12 B"}) {
    CAPTURE(small);
    CHECK(message_of<UsageError>([&] {
            parse_memory_budget(small);
          }).find("expected a size such as 16G or 800M, at least 64M") != std::string::npos);
  }
}

TEST_CASE("free memory is that of the machine, or less: that of the control groups around it") {
  const Reported system;
  const auto free = [&] { return free_memory(system.root.path()); };
  CHECK(free() > std::size_t{1} << 60);  // nothing is reported: no limit
  system.put("proc/meminfo", "MemTotal:  64 kB\nMemAvailable:    32 kB\n");
  CHECK(free() == 32 * 1024);
  system.put("proc/self/cgroup", "0::/a/b\n");
  CHECK(free() == 32 * 1024);
  const std::string groups = "sys/fs/cgroup/";
  system.put(groups + "a/b/memory.max", "max\n");
  system.put(groups + "a/b/memory.current", "1000\n");
  CHECK(free() == 32 * 1024);
  system.put(groups + "a/memory.max", "9000\n");
  system.put(groups + "a/memory.current", "5000\n");
  CHECK(free() == 4000);
  system.put(groups + "a/memory.stat", "anon 4000\ninactive_file 1000\n");
  CHECK(free() == 5000);  // pages of files are given up
  system.put(groups + "a/memory.stat", "anon 4000\nactive_file 600\ninactive_file 1000\n");
  CHECK(free() == 5600);
  system.put(groups + "a/memory.current", "12000\n");
  CHECK(free() == 0);
}

TEST_CASE("the first version of control groups limits what is free, too") {
  const Reported system;
  system.put("proc/meminfo", "MemAvailable:    32 kB\n");
  system.put("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/job\n");
  const std::string job = "sys/fs/cgroup/memory/job/";
  system.put(job + "memory.limit_in_bytes", "7000\n");
  system.put(job + "memory.usage_in_bytes", "3000\n");
  system.put(job + "memory.stat", "total_inactive_file 500\ntotal_active_file 200\n");
  CHECK(free_memory(system.root.path()) == 4700);
}

TEST_CASE("limits of the process bound what is free, as ulimit -v and -d set them") {
  const Reported system;
  const auto free = [&] { return free_memory(system.root.path()); };
  const auto limit = [&](const std::string& space, const std::string& data) {
    system.put("proc/self/limits",
               "Limit                     Soft Limit           Hard Limit   Units\n"
               "Max data size             " +
                   data +
                   "            unlimited    bytes\n"
                   "Max address space         " +
                   space + "            9000000      bytes\n");
  };
  system.put("proc/meminfo", "MemTotal:  64 kB\nMemAvailable:    32 kB\n");
  system.put("proc/self/status", "Name:\tfovea\nVmSize:\t      10 kB\nVmData:\t       4 kB\n");
  limit("unlimited", "unlimited");
  CHECK(free() == 32 * 1024);
  limit("30720", "unlimited");
  CHECK(free() == 20 * 1024);
  limit("30720", "6144");
  CHECK(free() == 2 * 1024);
  limit("4096", "unlimited");
  CHECK(free() == 0);
}

TEST_CASE("what is above the budget is refused with what it needs, the budget, and what to do") {
  const Budget budget(std::size_t{100} << 20);
  CHECK(refusal_of([] { require_memory(99 << 20, "a matrix"); }).empty());
  CHECK(refusal_of([] { require_memory(0.5 * gibibyte, "x.npz"); }) ==
        "x.npz: 512 MiB of memory needed; the budget is 100 MiB. --memory 1G, or Compute > Memory "
        "budget in the window, allows more.");
  CHECK(refusal_of([] { require_memory(0.5 * gibibyte, "a head", "Fewer tokens need less"); }) ==
        "a head: 512 MiB of memory needed; the budget is 100 MiB. Fewer tokens need less; --memory "
        "1G, or Compute > Memory budget in the window, allows more.");
  CHECK(refusal_of([] { require_device_memory(gibibyte, 2 * gibibyte, "a matrix", "GPU"); }) ==
        "a matrix: 1.00 GiB of memory needed on GPU; the budget is 100 MiB. Fewer tokens need "
        "less; --memory 1G, or Compute > Memory budget in the window, allows more.");
}

TEST_CASE("half of what is free is allowed unless a budget is set, and never more than is free") {
  const auto of_gpu = [](double bytes) {
    return refusal_of([&] { require_device_memory(bytes, 8 * gibibyte, "a head", "GPU"); });
  };
  CHECK(of_gpu(4 * gibibyte).empty());
  CHECK(of_gpu(4.1 * gibibyte).find("the budget is 4.00 GiB, half of what is free.") !=
        std::string::npos);
  const Budget budget(std::size_t{64} << 30);
  CHECK(of_gpu(8 * gibibyte).empty());
  CHECK(of_gpu(9 * gibibyte) ==
        "a head: 9.00 GiB of memory needed on GPU, 8.00 GiB free. Fewer tokens need less.");
}

TEST_CASE("a matrix, the attention of a plan and a tile of it are refused before they are made") {
  const Problem problem = make_data(Data::gaussian, 12000, 2, 2, false);
  const Instance exact = make_instance(*backends().front(), problem, "exact", {});
  const Budget budget(std::size_t{64} << 20);
  const std::string array = refusal_of([] { Matrix(1 << 13, 1 << 12); });
  CHECK(array.starts_with("one array: 128 MiB"));
  CHECK(array.find("Fewer") == std::string::npos);
  CHECK(refusal_of([&] {
          exact.all();
        }).starts_with("a matrix of 12000 x 12000 weights: 549 MiB of memory needed"));
  const Problem wide = make_data(Data::gaussian, 2000, 2, 8192, false);
  CHECK(refusal_of([&] {
          make_instance(*backends().front(), wide, "exact", {});
        }).starts_with("attention, n = 2000: "));
  CHECK(refusal_of([&] {
          make_instance(*backends().front(), problem, "sinkhorn", {{"block", "1"}});
        }).starts_with("mixtures of Sinkhorn of 12000 blocks: "));
  CHECK(refusal_of([&] {
          make_instance(*backends().front(), problem, "linformer", {{"rank", "4000"}});
        }).starts_with("projections of Linformer of 12000 tokens: "));
  CHECK(refusal_of([&] {
          make_instance(*backends().front(), problem, "synthesizer", {{"rank", "4000"}});
        }).starts_with("factors of Synthesizer of 12000 tokens: "));
}
