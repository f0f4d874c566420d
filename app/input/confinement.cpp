#include "input/confinement.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
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
#include <ctime>
#include <fstream>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "data/error.h"

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

/// The only system calls that a decoder may make. Builds with sanitizers need more and go without
/// the filter. Those that may reach beyond the process are in `judged_calls`.
constexpr std::array allowed_calls{SYS_read,
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
                                   SYS_set_robust_list,
                                   SYS_rseq,
                                   SYS_gettid,
                                   SYS_getpid,
                                   SYS_sched_yield,
                                   SYS_sched_getaffinity,
                                   SYS_membarrier,
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

using Instructions = std::vector<sock_filter>;

sock_filter load(std::size_t offset) {
  return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
}

sock_filter answer(std::uint32_t value) {
  return {BPF_RET | BPF_K, 0, 0, value};
}

constexpr std::uint32_t allow = SECCOMP_RET_ALLOW, refuse = SECCOMP_RET_ERRNO | EPERM;

/// Compares the loaded word with `value` and skips `where_equal` or `where_not` instructions.
sock_filter skip(std::uint32_t value, std::uint8_t where_equal, std::uint8_t where_not) {
  return {BPF_JMP | BPF_JEQ | BPF_K, where_equal, where_not, value};
}

/// Half of an argument of the call: these processors store the lower half first.
sock_filter load_lower(int argument) {
  return load(offsetof(seccomp_data, args) + sizeof(std::uint64_t) * std::size_t(argument));
}

sock_filter load_upper(int argument) {
  return load(offsetof(seccomp_data, args) + sizeof(std::uint64_t) * std::size_t(argument) +
              sizeof(std::uint32_t));
}

/// Calls that are judged by their arguments. The kernel takes process ids and prctl's options as 32
/// bits.
std::vector<std::pair<long, Instructions>> judged_calls() {
  const auto self = static_cast<std::uint32_t>(::getpid());
  return {// Threads, but no other process.
          {SYS_clone,
           {load_lower(0),
            {BPF_JMP | BPF_JSET | BPF_K, 0, 1, CLONE_THREAD},
            answer(allow),
            answer(refuse)}},
          // Refused: its flags are in memory, which a filter cannot read. The C library calls
          // clone() instead.
          {SYS_clone3, {answer(SECCOMP_RET_ERRNO | ENOSYS)}},
          // abort() sends a signal to its own process.
          {SYS_tgkill, {load_lower(0), skip(self, 0, 1), answer(allow), answer(refuse)}},
          // A process may read its own limits.
          {SYS_prlimit64,
           {load_lower(0), skip(0, 0, 5), load_lower(2), skip(0, 0, 3), load_upper(2),
            skip(0, 0, 1), answer(allow), answer(refuse)}},
          // Names of threads and of memory.
          {SYS_prctl,
           {load_lower(0), skip(PR_SET_NAME, 1, 0), skip(PR_SET_VMA, 0, 1), answer(allow),
            answer(refuse)}}};
}

Instructions filter() {
  Instructions filter{load(offsetof(seccomp_data, arch)), skip(architecture, 1, 0),
                      answer(SECCOMP_RET_KILL_PROCESS), load(offsetof(seccomp_data, nr))};
  for (const long call : allowed_calls) {
    filter.push_back(skip(static_cast<std::uint32_t>(call), 0, 1));
    filter.push_back(answer(allow));
  }
  for (const auto& [call, judgement] : judged_calls()) {
    filter.push_back(
        skip(static_cast<std::uint32_t>(call), 0, static_cast<std::uint8_t>(judgement.size())));
    filter.insert(filter.end(), judgement.begin(), judgement.end());
  }
  filter.push_back(answer(refuse));
  return filter;
}

/// Makes all other system calls fail, in all threads. Kernels without such filters run unfiltered.
void allow_only_computing() {
  Instructions instructions = filter();
  const sock_fprog program{static_cast<unsigned short>(instructions.size()), instructions.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  const long fault =  // or the id of a thread that could not get the filter
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  if (fault != 0 && !(fault == -1 && (errno == ENOSYS || errno == EINVAL))) ::_exit(not_confined);
}
#else
void allow_only_computing() {}
#endif

/// Bytes of address space that this process has.
std::size_t address_space() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  if (!(file >> pages))
    throw UnavailableError(
        "the memory of the process that decodes pictures cannot be limited, as /proc/self/statm "
        "cannot be read; mount /proc");
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Seconds of processor time that this process has used, rounded up.
rlim_t seconds_used() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<rlim_t>(used.tv_sec) + 1;
}

}  // namespace

int begin_confinement() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setpgid(0, 0);  // Ctrl-C goes to the program that started it, which ends it
  if (::close_range(STDERR_FILENO + 1, ~0U, 0) != 0)  // before Linux 5.9
    for (int other = STDERR_FILENO + 1; other < ::sysconf(_SC_OPEN_MAX); ++other) ::close(other);
  ::signal(SIGXFSZ, SIG_IGN);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, 0);
  const int answer = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return answer;
}

void complete_confinement(std::size_t memory, int seconds) {
  // Address space is more than memory: it includes stacks of threads and what malloc reserves for
  // them. Therefore few threads are started, however many cores there are.
  ::mallopt(M_ARENA_MAX, 1);
  const std::size_t threads = std::min(std::thread::hardware_concurrency(), 4U);
  const std::size_t aside = (std::size_t{256} + 16 * threads) << 20;
  std::set_new_handler([] { ::_exit(out_of_memory); });
  set_limit(RLIMIT_AS, address_space() + aside + memory);
  ::signal(SIGXCPU, [](int) { ::_exit(out_of_time); });
  const rlim_t end = seconds_used() + static_cast<rlim_t>(seconds);
  set_limit(RLIMIT_CPU, end, end + 5);
  set_limit(RLIMIT_NOFILE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  allow_only_computing();
#endif
}

}  // namespace fovea
