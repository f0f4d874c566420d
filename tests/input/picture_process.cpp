// Pictures are decoded in a process of their own: what a crafted one does there is a message here.
#include "input/picture_process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QBuffer>
#include <QImage>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <thread>

#include "input/confinement.h"
#include "input/own_files.h"
#include "input/picture_answer.h"
#include "memory_budget.h"
#include "messages.h"
#include "temporary_directory.h"

namespace fovea::test {
namespace {

std::string svg_of(const std::string& content, const std::string& before = "") {
  return before +
         "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' "
         "width='64' height='64'>" +
         content + "</svg>";
}

std::string reference_to(const std::string& what) {
  return svg_of("<image xlink:href='" + what + "' width='64' height='64'/>");
}

/// Each is drawn by drawing the one before; reading it takes a time that grows with the square.
std::string chain_of_uses(int count) {
  std::string content = "<rect id='u0' width='9' height='9'/>";
  for (int use = 1; use < count; ++use)
    content +=
        "<use id='u" + std::to_string(use) + "' xlink:href='#u" + std::to_string(use - 1) + "'/>";
  return svg_of(content);
}

std::string refusal_of(const TemporaryDirectory& folder, const std::string& name,
                       const std::string& bytes, int max_side = 0) {
  const std::string path = folder.write(name, bytes);
  const std::string message =
      message_of([&] { read_image(FileBytes(path), 8, max_side, {}, {.processor_seconds = 20}); });
  CHECK(message.starts_with(path + ": "));
  return message;
}

std::vector<pid_t> own_children() {
  std::vector<pid_t> children;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream in(thread.path() / "children");
    for (pid_t child = 0; in >> child;) children.push_back(child);
  }
  return children;
}

/// The process that decodes a picture, once it is another program.
pid_t wait_for_child() {
  for (;;) {
    for (const pid_t child : own_children())
      if (contains(read_bytes("/proc/" + std::to_string(child) + "/cmdline"), "read-picture"))
        return child;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// A picture that takes minutes to decode, and its reading on another thread.
struct LongReading {
  TemporaryDirectory folder;
  std::string path = folder.write("long.svg", chain_of_uses(60000));
  std::stop_source stop;
  std::future<std::string> message = std::async(std::launch::async, [this] {
    try {
      read_image(FileBytes(path), 8, 0, stop.get_token());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  });
};

/// The exit status of a child that does `work`.
int status_of_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Whether confined processes have a filter of system calls here.
bool has_filter() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#endif
  std::uint32_t action = SECCOMP_RET_ERRNO;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool is_refused(long result) {
  return result == -1 && errno == EPERM;
}

/// Stands in for the program that decodes pictures until the end of the scope.
struct Script {
  TemporaryDirectory folder;
  PictureDecoder decoder;
  explicit Script(const std::string& text) {
    decoder.program = folder.write("script", "#!/bin/sh\n" + text + "\n");
    std::filesystem::permissions(decoder.program, std::filesystem::perms::owner_all);
  }
  template <class Expected = InputError>
  std::string message() const {
    const std::string path = folder.write("p.png", "any bytes");
    return message_of<Expected>([&] { read_image(FileBytes(path), 8, 0, {}, decoder); });
  }
};

}  // namespace

TEST_CASE("an SVG picture reads no other file, and says which one it names") {
  const TemporaryDirectory folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const std::string& other :
       {folder / "self.svg", std::string("/proc/self/fd/0"), folder / "pipe",
        "file://" + folder / "pipe", std::string("other.png")})
    check_says(refusal_of(folder, "self.svg", reference_to(other)), {other, "holds all of itself"});
  check_says(refusal_of(folder, "style.svg",
                        svg_of("<rect width='9' height='9'/>",
                               "<?xml-stylesheet type='text/css' href='/etc/passwd'?>")),
             {"styles from another file"});
  check_says(refusal_of(folder, "packed.svg", std::string("\x1F\x8B\x08\0\0\0\0\0", 8)),
             {"packed.svg"});
}

TEST_CASE("an SVG picture may hold another picture") {
  QImage red(8, 8, QImage::Format_RGB32);
  red.fill(qRgb(200, 0, 0));
  QBuffer png;
  red.save(&png, "png");
  const TemporaryDirectory folder;
  const std::string path = folder.write(
      "whole.svg", reference_to("data:image/png;base64," + png.data().toBase64().toStdString()));
  const ImageFile image = read_image(FileBytes(path), 8, 0);
  REQUIRE(image.picture->rgb.size() == 64 * 64 * 3);
  CHECK(image.picture->rgb[3 * (64 * 32 + 32)] == 200);
  CHECK(image.picture->rgb[3 * (64 * 32 + 32) + 1] == 0);
}

TEST_CASE("letters of a picture are the same where no file can be opened any more") {
  const std::string bytes = svg_of(
      "<text x='2' y='20' font-size='18' font-family='serif'>Ag漢</text>"
      "<text x='2' y='50' font-size='12' font-family='no such' font-weight='bold'>bold</text>");
  const TemporaryDirectory folder;
  const ImageFile confined = read_image(FileBytes(folder.write("letters.svg", bytes)), 8, 0);
  load_image_readers(bytes);
  const ImageFile here = decode_image(bytes, 8, 0);
  CHECK(confined.picture->rgb == here.picture->rgb);
  CHECK(std::ranges::count(here.picture->rgb, 0) > 50);  // there are letters
}

TEST_CASE("a picture that takes too long to decode is refused, and the next one is read") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("long.svg", chain_of_uses(40000));
  check_says(message_of([&] { read_image(FileBytes(path), 8, 0, {}, {.processor_seconds = 1}); }),
             {path, "more than 1 s of processor time", "save it as PNG"});
  CHECK(own_children().empty());
  CHECK(read_image(FileBytes(folder.write("next.svg", chain_of_uses(3))), 8, 0).picture->width ==
        64);
}

TEST_CASE("where the process that decodes a picture crashes, or is ended, this one says so") {
  for (const auto& [signal, says] :
       {std::pair(SIGSEGV, "crashed on it (signal 11)"), std::pair(SIGKILL, "was killed"),
        std::pair(SIGTERM, "was told to end")}) {
    LongReading reading;
    ::kill(wait_for_child(), signal);
    const std::string message = reading.message.get();
    check_says(message, {reading.path, says});
    CHECK(contains(message, "save it as PNG") == (signal == SIGSEGV));
    CHECK(own_children().empty());
  }
}

TEST_CASE("the process that decodes pictures ends without an answer: its exit status says why") {
  for (const auto& [status, says] :
       {std::pair(4, "too little memory"), std::pair(102, "more memory than the budget"),
        std::pair(103, "could not be confined"), std::pair(127, "a library is missing"),
        std::pair(130, "was told to end")}) {
    const Script script("exit " + std::to_string(status));
    const std::string message = script.message<UnavailableError>();
    check_says(message, {"p.png: ", says});
    CHECK_FALSE(contains(message, "PNG"));
  }
  check_says(Script("exit 1").message(), {"p.png: ", "exit status 1", "save it as PNG"});
  check_says(Script("exit 101").message(), {"p.png: ", "30 s of processor time"});
  const Script none("");
  std::filesystem::remove(none.decoder.program);
  check_says(none.message<UnavailableError>(), {"p.png: ", none.decoder.program, "cannot be"});
}

TEST_CASE("a process that ends amid its answer is not waited for") {
  const std::string head = R"({"picture":1,"width":8,"height":8,"notes":[]})";
  for (const std::string& answer :
       {std::string("printf '{'"), "echo '" + head + "'; printf '123'"}) {
    Script script(answer);
    script.decoder.all = std::chrono::seconds(60);  // longer than a shell takes anywhere
    check_says(script.message(), {"p.png: ", "without an answer (exit status 0)"});
  }
  // More than an answer's line may have, and no line.
  check_says(Script("head -c 100000 /dev/zero; exec sleep 600").message(), {"cannot be read"});
}

TEST_CASE("a stop ends the process that decodes a picture") {
  LongReading reading;
  wait_for_child();
  reading.stop.request_stop();
  CHECK(reading.message.get() == Cancelled().what());
  CHECK(own_children().empty());
}

TEST_CASE("an XBM that declares more pixels than it holds is refused") {
  const TemporaryDirectory folder;
  const auto xbm = [](int side, int bytes) {
    std::string text = "#define x_width " + std::to_string(side) + "\n#define x_height " +
                       std::to_string(side) + "\nstatic char x_bits[] = {\n0x00";
    for (int byte = 1; byte < bytes; ++byte) text += ",0x00";
    return text + "};\n";
  };
  check_says(refusal_of(folder, "vast.xbm", xbm(16384, 1)), {"XBM breaks off", "77 bytes"});
  CHECK(read_image(FileBytes(folder.write("whole.xbm", xbm(16, 32))), 8, 0).picture->width == 16);
}

TEST_CASE("a GIF that has another size than it announces is described as it is") {
  // A screen of 64 x 400 in which the picture is 80 x 32. Codes of 3 bits, the lowest first: 4
  // clears, 0 is a pixel, 5 ends.
  std::string bits;
  for (int pair = 0; pair < 80 * 32 / 2; ++pair) bits += "001000000";
  bits += "101";
  std::string codes((bits.size() + 7) / 8, '\0');
  for (std::size_t bit = 0; bit < bits.size(); ++bit)
    if (bits[bit] == '1') codes[bit / 8] = static_cast<char>(codes[bit / 8] | 1 << bit % 8);
  std::string gif("GIF89a\x40\0\x90\1\x80\0\0\0\0\0\xFF\xFF\xFF,\0\0\0\0\x50\0\x20\0\0\2", 30);
  for (std::size_t at = 0; at < codes.size(); at += 100) {
    const std::string block = codes.substr(at, 100);
    gif += static_cast<char>(block.size()) + block;
  }
  gif += std::string("\0;", 2);
  const TemporaryDirectory folder;
  const ImageFile image = read_image(FileBytes(folder.write("large.gif", gif)), 8, 80);
  CHECK(image.picture->height == 80);
  REQUIRE(image.notes.size() == 2);
  check_says(image.notes[0], {"scaled from 64 x 400"});
}

TEST_CASE("a large picture is converted and scaled where no descriptor can be opened any more") {
  QImage large(3000, 2000, QImage::Format_RGBA64);
  large.fill(QColor(10, 20, 30, 128));
  const TemporaryDirectory folder;
  REQUIRE(large.save(QString::fromStdString(folder / "large.png")));
  CHECK(read_image(FileBytes(folder / "large.png"), 8, 1200).picture->width == 1200);
}

TEST_CASE("a confined process opens nothing, starts nothing and has its limit of memory") {
  constexpr std::size_t limit = std::size_t{64} << 20;
  CHECK(status_of_child([] {
          begin_confinement();
          complete_confinement(limit, 20);
          if (::open("/dev/null", O_RDONLY) >= 0) return 1;
          if (::socket(AF_UNIX, SOCK_STREAM, 0) >= 0) return 2;
          if (::dup(0) >= 0) return 3;
          std::thread([] {}).join();  // which it may
          return 0;
        }) == 0);
  CHECK(status_of_child([] {
          begin_confinement();
          complete_confinement(limit, 20);
          const std::vector<char> most(std::size_t{1} << 40);
          return most.back();
        }) == out_of_memory);
  CHECK(status_of_child([] {
          begin_confinement();
          complete_confinement(limit, 1);
          for (volatile int count = 0;;) count = count + 1;
          return 0;
        }) == out_of_time);
}

TEST_CASE("a confined process reaches no other process, and keeps its limits") {
  if (!has_filter()) return;
  CHECK(status_of_child([] {
          const pid_t parent = ::getppid();
          begin_confinement();
          complete_confinement(std::size_t{64} << 20, 20);
          if (!is_refused(::kill(parent, 0))) return 1;
          if (!is_refused(::syscall(SYS_tgkill, parent, parent, 0))) return 2;
          if (::syscall(SYS_tgkill, ::getpid(), ::gettid(), 0) != 0) return 3;  // as abort() does
          rlimit limits{};
          if (!is_refused(::syscall(SYS_prlimit64, parent, RLIMIT_CPU, nullptr, &limits))) return 4;
          if (!is_refused(::syscall(SYS_prlimit64, 0, RLIMIT_CPU, &limits, nullptr))) return 5;
          if (::syscall(SYS_prlimit64, 0, RLIMIT_CPU, nullptr, &limits) != 0) return 6;
          // A place whose address has zeros in its lower half.
          void* place = ::mmap(reinterpret_cast<void*>(std::uintptr_t{7} << 32), sizeof limits,
                               PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
          if (place == MAP_FAILED) return 7;
          if (!is_refused(::syscall(SYS_prlimit64, 0, RLIMIT_CPU, place, nullptr))) return 8;
          return 0;
        }) == 0);
}

TEST_CASE("a confined process starts threads, and no process") {
  if (!has_filter()) return;
  CHECK(status_of_child([] {
          begin_confinement();
          complete_confinement(std::size_t{64} << 20, 20);
          const auto end_copy = [](long result) {
            if (result == 0) ::_exit(0);  // a copy of this process
            return result;
          };
          if (!is_refused(end_copy(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)))) return 1;
          clone_args copy{};
          copy.exit_signal = SIGCHLD;
          if (end_copy(::syscall(SYS_clone3, &copy, sizeof copy)) != -1 || errno != ENOSYS)
            return 2;
          if (!is_refused(::execl("/bin/true", "true", nullptr))) return 3;
          if (!is_refused(::prctl(PR_SET_PDEATHSIG, 0))) return 4;  // it would outlive its parent
          if (!is_refused(::prctl(PR_SET_DUMPABLE, 1))) return 5;
          if (::prctl(PR_SET_NAME, "decoder") != 0) return 6;
          std::thread([] {}).join();
          return 0;
        }) == 0);
}

TEST_CASE("a process whose threads cannot all be confined ends") {
  if (!has_filter()) return;
  CHECK(status_of_child([] {
          begin_confinement();
          std::promise<void> filtered;
          std::thread([&] {  // with a filter of its own, which the kernel does not replace
            sock_filter allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
            const sock_fprog program{1, &allow};
            ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
            filtered.set_value();
            ::pause();
          })
              .detach();
          filtered.get_future().wait();
          complete_confinement(std::size_t{64} << 20, 20);
          return 0;
        }) == not_confined);
}

TEST_CASE("seconds of processor time are those after the confinement is complete") {
  CHECK(status_of_child([] {
          const auto compute = [](double seconds) {
            const std::clock_t begin = std::clock();
            while (double(std::clock() - begin) < seconds * CLOCKS_PER_SEC) {
            }
          };
          begin_confinement();
          compute(2);  // as loading many fonts takes
          complete_confinement(std::size_t{64} << 20, 1);
          compute(0.5);  // the kernel looks at the limit some times a second
          return 0;
        }) == 0);
}

TEST_CASE("the address space of a confined process does not grow with the cores of the machine") {
  CHECK(status_of_child([] {
          constexpr std::size_t memory = std::size_t{64} << 20;
          // What the C library takes, and stacks of four threads.
          constexpr std::size_t most_beside = std::size_t{256 + 4 * 16} << 20;
          std::size_t pages = 0;
          std::ifstream("/proc/self/statm") >> pages;
          const std::size_t before = pages * std::size_t(::sysconf(_SC_PAGESIZE));
          constexpr std::size_t slack = std::size_t{8} << 20;  // taken since then
          begin_confinement();
          complete_confinement(memory, 20);
          rlimit limit{};
          ::getrlimit(RLIMIT_AS, &limit);
          return limit.rlim_cur <= before + memory + most_beside + slack ? 0 : 1;
        }) == 0);
}

TEST_CASE("where the memory of a process cannot be known, no picture is said to need more") {
  CHECK(status_of_child([] {
          begin_confinement();
          const rlimit none{};
          ::setrlimit(RLIMIT_NOFILE, &none);  // as without /proc
          try {
            complete_confinement(std::size_t{64} << 20, 20);
          } catch (const UnavailableError& error) {
            return contains(error.what(), "mount /proc") ? 0 : 2;
          }
          return 1;
        }) == 0);
}

TEST_CASE("what libraries print is no part of a confined process's answer") {
  const TemporaryDirectory folder;
  const std::string out = folder.write("out", ""), err = folder.write("err", "");
  CHECK(status_of_child([&] {
          ::dup2(::open(out.c_str(), O_WRONLY), STDOUT_FILENO);
          ::dup2(::open(err.c_str(), O_WRONLY), STDERR_FILENO);
          const int answer = begin_confinement();
          const auto same = [](int descriptor, const std::string& path) {
            struct stat one {
            }, other{};
            return ::fstat(descriptor, &one) == 0 && ::stat(path.c_str(), &other) == 0 &&
                   one.st_ino == other.st_ino;
          };
          return same(answer, out) && same(STDOUT_FILENO, err) ? 0 : 1;
        }) == 0);
}

TEST_CASE("without a home of its own the program takes that of its user, and never /") {
  const std::string before = std::getenv("HOME") ? std::getenv("HOME") : "";
  for (const char* none : {"", "/", "relative"}) {
    ::setenv("HOME", none, 1);
    require_home();
    const std::string home = std::getenv("HOME");
    CHECK(home.size() > 1);
    CHECK(home.front() == '/');
  }
  ::setenv("HOME", "/somewhere", 1);
  require_home();
  CHECK(std::string(std::getenv("HOME")) == "/somewhere");
  ::setenv("HOME", before.c_str(), 1);
}

TEST_CASE("an answer that the process would not write is refused") {
  const auto refused = [](const std::string& line) {
    return message_of([&] { read_picture_answer(line, "p.png", 8); });
  };
  const PictureHead head = read_picture_answer(
      R"({"picture":1,"width":16,"height":8,"notes":["a\u001b[31m"]})", "p.png", 8);
  CHECK(head.width == 16);
  CHECK(head.height == 8);
  CHECK(head.notes == std::vector<std::string>{"a\\x1B[31m"});
  CHECK(refused(R"({"picture":1,"status":3,"message":"is cut off"})") == "p.png: is cut off");
  CHECK(message_of<UnavailableError>([] {
          read_picture_answer(R"({"picture":1,"status":4,"message":"no memory"})", "p.png", 8);
        }) == "p.png: no memory");
  for (const char* line : {"", "{", "[]", "7", R"({"picture":2,"width":8,"height":8,"notes":[]})",
                           R"({"picture":1,"width":-8,"height":8,"notes":[]})",
                           R"({"picture":1,"width":9,"height":8,"notes":[]})",
                           R"({"picture":1,"width":0,"height":8,"notes":[]})",
                           R"({"picture":1,"width":1048576,"height":1048576,"notes":[]})",
                           R"({"picture":1,"width":"8","height":8,"notes":[]})",
                           R"({"picture":1,"width":8,"height":8})", R"({"picture":1,"status":3})",
                           R"({"picture":1,"width":1e300,"height":8,"notes":[]})"})
    check_says(refused(line), {"p.png: "});
}

TEST_CASE("law: an answer is taken up to each limit, and refused beyond it") {
  const auto is_taken = [](int patch, Index width, Index height, std::size_t notes) {
    const nlohmann::json answer{{"picture", 1},
                                {"width", width},
                                {"height", height},
                                {"notes", std::vector<std::string>(notes, "a note")}};
    return message_of([&] { read_picture_answer(answer.dump(), "p.png", patch); }).empty();
  };
  const Index side = Index{1} << 20, half = Index{1} << 11;
  CHECK(is_taken(whole_picture, side, half, 8));
  CHECK_FALSE(is_taken(whole_picture, side, half, 9));
  CHECK_FALSE(is_taken(whole_picture, side + 1, 1, 0));
  CHECK_FALSE(is_taken(whole_picture, 1, side + 1, 0));
  CHECK_FALSE(is_taken(whole_picture, side, half + 1, 0));
  CHECK_FALSE(is_taken(whole_picture, 1, 0, 0));
  CHECK(is_taken(4, 4 * most_tokens, 4, 0));
  CHECK(is_taken(4, 4, 4 * most_tokens, 0));
  CHECK_FALSE(is_taken(4, 4 * most_tokens + 4, 4, 0));
  CHECK_FALSE(is_taken(4, 4 * most_tokens, 8, 0));
  CHECK_FALSE(is_taken(4, 6, 4, 0));
}

}  // namespace fovea::test
