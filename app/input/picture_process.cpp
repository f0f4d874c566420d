#include "input/picture_process.h"

#include <signal.h>

#include <QProcess>
#include <algorithm>
#include <span>

#include "data/error.h"
#include "data/memory.h"
#include "data/stop.h"
#include "input/confinement.h"
#include "input/picture_answer.h"

namespace fovea {
namespace {

constexpr Index piece = 1 << 20;      // bytes
constexpr int patience = 50;          // ms until a stop is looked for
constexpr int missing_library = 127;  // exit status of the dynamic linker
constexpr char save_it_otherwise[] =
    "; expected an ordinary picture: open it in another program and save it as PNG";

/// Ends the process when it goes, and waits for its end.
class PictureProcess {
 public:
  PictureProcess(std::string path, const std::stop_token& stop, const PictureDecoder& decoder)
      : path_(std::move(path)),
        stop_(stop),
        decoder_(decoder),
        end_(std::chrono::steady_clock::now() + decoder.all) {}
  ~PictureProcess() { end(); }
  PictureProcess(const PictureProcess&) = delete;
  PictureProcess& operator=(const PictureProcess&) = delete;

  void start(int patch, int max_side) {
    QStringList words{"read-picture",
                      "--patch",
                      QString::number(patch),
                      "--max-side",
                      QString::number(max_side),
                      "--seconds",
                      QString::number(decoder_.processor_seconds)};
    if (const auto budget = memory_budget())
      words << "--memory" << QString::number(std::max(*budget, smallest_checked));
    process_.setStandardErrorFile(QProcess::nullDevice());  // the libraries' own words
    process_.start(QString::fromStdString(decoder_.program), words);
    if (!process_.waitForStarted()) throw not_started(process_.errorString().toStdString());
  }

  void send(const FileBytes& file) {
    QByteArray bytes;
    for (Index begin = 0; begin < file.size() && is_running(); begin += piece) {
      bytes.resize(std::min(piece, file.size() - begin));
      file.read(begin, std::as_writable_bytes(std::span(bytes.data(), std::size_t(bytes.size()))));
      process_.write(bytes);
      while (process_.bytesToWrite() > 0 && is_running()) {
        process_.waitForBytesWritten(patience);
        check();
      }
    }
    process_.closeWriteChannel();
  }

  std::string line() {
    while (!process_.canReadLine() && process_.bytesAvailable() <= qsizetype(longest_answer_line))
      wait();
    return process_.readLine(longest_answer_line).toStdString();
  }

  void read(std::uint8_t* pixels, qsizetype count) {
    while (count > 0) {
      if (process_.bytesAvailable() == 0) wait();
      const qsizetype got =
          std::max<qsizetype>(process_.read(reinterpret_cast<char*>(pixels), count), 0);
      pixels += got;
      count -= got;
    }
  }

 private:
  bool is_running() const { return process_.state() != QProcess::NotRunning; }

  /// Waits for more to read. Throws if no more can come.
  void wait() {
    const qint64 before = process_.bytesAvailable();
    process_.waitForReadyRead(patience);
    check();
    if (!is_running() && process_.bytesAvailable() == before) throw_failure();
  }

  void check() {
    check_stop(stop_);
    if (std::chrono::steady_clock::now() < end_) return;
    throw InputError(path_, "was not decoded within " + std::to_string(decoder_.all.count()) +
                                " s" + save_it_otherwise);
  }

  void end() {
    if (!is_running()) return;
    process_.kill();
    process_.waitForFinished();
  }

  UnavailableError not_started(const std::string& why) const {
    return UnavailableError(path_ + ": " + decoder_.program +
                            ", which decodes pictures, cannot be started (" + why +
                            "); install Fovea again");
  }

  /// Why it has ended without an answer.
  [[noreturn]] void throw_failure() const {
    const int code = process_.exitCode();  // or the signal that ended it
    const std::string process = "the process that decodes pictures ";
    const auto unavailable = [&](const std::string& what) {
      return UnavailableError(path_ + ": " + what);
    };
    const bool by_signal = process_.exitStatus() == QProcess::CrashExit;
    if (by_signal ? code == SIGTERM || code == SIGINT || code == SIGHUP
                  : code == Cancelled().status())
      throw unavailable(process + "was told to end; open the picture again");
    if (by_signal && code == SIGKILL)
      throw unavailable(process +
                        "was killed, as the system does where memory runs out; close other "
                        "programs, and open the picture again");
    if (by_signal)
      throw InputError(path_, process + "crashed on it (signal " + std::to_string(code) + ")" +
                                  save_it_otherwise);
    switch (code) {
      case out_of_memory:
        throw unavailable(
            "decoding needs more memory than the budget allows; --memory, or Compute > Memory "
            "budget in the window, allows more");
      case out_of_time:
        throw InputError(path_, "decoding takes more than " +
                                    std::to_string(decoder_.processor_seconds) +
                                    " s of processor time" + save_it_otherwise);
      case not_confined:
        throw unavailable(process +
                          "could not be confined: the kernel has refused its filter of system "
                          "calls; open another file, or the picture on another system");
      case missing_library:
        throw not_started("exit status " + std::to_string(code) + ": a library is missing");
    }
    if (code == UnavailableError("").status())
      throw unavailable(
          "there is too little memory to read it; close other programs, and open it "
          "again");
    throw InputError(path_, process + "ended without an answer (exit status " +
                                std::to_string(code) + ")" + save_it_otherwise);
  }

  std::string path_;
  const std::stop_token& stop_;
  const PictureDecoder& decoder_;
  std::chrono::steady_clock::time_point end_;
  QProcess process_;
};

}  // namespace

ImageFile read_image(const FileBytes& file, int patch, int max_side, const std::stop_token& stop,
                     const PictureDecoder& decoder) {
  if (patch != whole_picture && (patch < 1 || patch > 4096))
    throw UsageError("--patch is " + std::to_string(patch) + "; expected 1 to 4096");
  if (max_side < 0)
    throw UsageError("--max-side is " + std::to_string(max_side) + "; expected 0 or more");
  const std::string& path = file.path();
  require_memory(file.size(), path);
  PictureProcess process(path, stop, decoder);
  process.start(patch, max_side);
  process.send(file);
  PictureHead head = read_picture_answer(process.line(), path, patch);
  const auto bytes = static_cast<std::size_t>(head.width * head.height * 3);
  require_memory(bytes, path, "Fewer pixels need less");
  Picture picture{head.width, head.height, std::vector<std::uint8_t>(bytes)};
  process.read(picture.rgb.data(), std::ssize(picture.rgb));
  return {
      std::make_shared<Picture>(std::move(picture)),
      patch == whole_picture ? ImageGrid{} : ImageGrid{head.height / patch, head.width / patch, 0},
      std::move(head.notes)};
}

void read_picture_for_other(std::istream& in, int patch, int max_side, int processor_seconds) {
  std::FILE* out = ::fdopen(begin_confinement(), "w");
  if (!out) throw UnavailableError("standard output: cannot be written");
  std::string bytes;
  for (std::size_t size = 0; in; bytes.resize(size)) {
    bytes.resize(size + piece);
    in.read(bytes.data() + size, piece);
    size += static_cast<std::size_t>(in.gcount());
  }
  try {
    load_image_readers(bytes);
    const std::size_t memory = std::max(allowed_memory(), smallest_checked);
    set_memory_budget(memory);  // free memory cannot be looked up any more
    complete_confinement(memory, processor_seconds);
    write_picture_answer(out, decode_image(bytes, patch, max_side));
  } catch (const Error& error) {
    write_picture_answer(out, error);
  }
  std::fflush(out);
}

}  // namespace fovea
