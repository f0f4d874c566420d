#include "input/confinement.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <new>
#include <thread>
#include <vector>

namespace fovea {
namespace {

void set_limit(decltype(RLIMIT_AS) what, rlim_t most, rlim_t hard) {
  rlimit now{};
  ::getrlimit(what, &now);
  const rlimit next{std::min(most, now.rlim_max), std::min(hard, now.rlim_max)};
  ::setrlimit(what, &next);
}

void set_limit(decltype(RLIMIT_AS) what, rlim_t most) {
  set_limit(what, most, most);
}

#if defined(__x86_64__) || defined(__aarch64__)
#ifdef __x86_64__
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#endif

/// What computing with memory, threads and open descriptors takes. Sanitizers take more.
constexpr std::array computing{SYS_read,
                               SYS_write,
                               SYS_writev,
                               SYS_close,
                               SYS_fstat,
                               SYS_lseek,
                               SYS_mmap,
                               SYS_munmap,
                               SYS_mremap,
                               SYS_mprotect,
                               SYS_madvise,
                               SYS_brk,
                               SYS_futex,
                               SYS_clone,
                               SYS_clone3,
                               SYS_set_robust_list,
                               SYS_rseq,
                               SYS_gettid,
                               SYS_getpid,
                               SYS_tgkill,
                               SYS_sched_yield,
                               SYS_sched_getaffinity,
                               SYS_membarrier,
                               SYS_prctl,
                               SYS_prlimit64,
                               SYS_rt_sigaction,
                               SYS_rt_sigprocmask,
                               SYS_rt_sigreturn,
                               SYS_sigaltstack,
                               SYS_clock_gettime,
                               SYS_clock_nanosleep,
                               SYS_nanosleep,
                               SYS_restart_syscall,
                               SYS_getrandom,
                               SYS_exit,
                               SYS_exit_group};

/// All other calls of the system fail, in all threads. Kernels without such filters go without.
void allow_only_computing() {
  const auto load = [](std::size_t offset) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
  };
  /// What was loaded: skips so many steps where it is `value`, or where it is not.
  const auto skip = [](std::uint32_t value, std::uint8_t where_equal, std::uint8_t where_not) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, where_equal, where_not, value};
  };
  const auto answer = [](std::uint32_t value) { return sock_filter{BPF_RET | BPF_K, 0, 0, value}; };
  std::vector<sock_filter> filter{load(offsetof(seccomp_data, arch)), skip(architecture, 1, 0),
                                  answer(SECCOMP_RET_KILL_PROCESS),
                                  load(offsetof(seccomp_data, nr))};
  for (const long call : computing) {
    filter.push_back(skip(static_cast<std::uint32_t>(call), 0, 1));
    filter.push_back(answer(SECCOMP_RET_ALLOW));
  }
  filter.push_back(answer(SECCOMP_RET_ERRNO | EPERM));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}
#else
void allow_only_computing() {}
#endif

/// Bytes of address space that this process has.
std::size_t address_space() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void begin_confinement(int seconds) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setpgid(0, 0);  // Ctrl-C is for the program that started it, which ends it
  if (::close_range(STDERR_FILENO + 1, ~0U, 0) != 0)  // before Linux 5.9
    for (int other = STDERR_FILENO + 1; other < ::sysconf(_SC_OPEN_MAX); ++other) ::close(other);
  ::signal(SIGXCPU, [](int) { ::_exit(out_of_time); });
  ::signal(SIGXFSZ, SIG_IGN);
  set_limit(RLIMIT_CPU, static_cast<rlim_t>(seconds), static_cast<rlim_t>(seconds) + 5);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, 0);
}

void complete_confinement(std::size_t memory) {
  // Address space is more than memory: stacks of threads, and what malloc puts aside for them.
  ::mallopt(M_ARENA_MAX, 1);
  const std::size_t aside =
      (std::size_t{256} << 20) + (std::size_t{16} << 20) * std::thread::hardware_concurrency();
  std::set_new_handler([] { ::_exit(out_of_memory); });
  set_limit(RLIMIT_AS, address_space() + aside + memory);
  set_limit(RLIMIT_NOFILE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  allow_only_computing();
#endif
}

}  // namespace fovea
