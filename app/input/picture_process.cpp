#include "input/picture_process.h"

#include <QProcess>
#include <algorithm>
#include <span>

#include "data/error.h"
#include "data/memory.h"
#include "data/stop.h"
#include "input/confinement.h"
#include "input/own_files.h"
#include "input/picture_answer.h"

namespace fovea {
namespace {

constexpr Index piece = 1 << 20;  // bytes
constexpr int patience = 50;      // ms until a stop is looked for
constexpr char save_it_otherwise[] =
    "; expected an ordinary picture: open it in another program and save it as PNG";

/// Ends the process when it goes, and waits for its end.
class PictureProcess {
 public:
  PictureProcess(std::string path, const std::stop_token& stop, const PictureLimits& limits)
      : path_(std::move(path)),
        stop_(stop),
        limits_(limits),
        end_(std::chrono::steady_clock::now() + limits.all) {}
  ~PictureProcess() { end(); }
  PictureProcess(const PictureProcess&) = delete;
  PictureProcess& operator=(const PictureProcess&) = delete;

  void start(int patch, int max_side) {
    const std::string program = own_program();
    QStringList words{"read-picture",
                      "--patch",
                      QString::number(patch),
                      "--max-side",
                      QString::number(max_side),
                      "--seconds",
                      QString::number(limits_.processor_seconds)};
    if (const auto budget = memory_budget())
      words << "--memory" << QString::number(std::max(*budget, smallest_checked));
    process_.setStandardErrorFile(QProcess::nullDevice());  // the libraries' own words
    process_.start(QString::fromStdString(program), words);
    if (!process_.waitForStarted())
      throw UnavailableError(path_ + ": " + program +
                             ", which decodes pictures, cannot be started (" +
                             process_.errorString().toStdString() + ")");
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
    while (!process_.canReadLine()) {
      if (process_.bytesAvailable() > qsizetype(longest_answer_line) || !wait()) throw failure();
    }
    return process_.readLine().toStdString();
  }

  void read(std::uint8_t* pixels, qsizetype count) {
    while (count > 0) {
      const qsizetype got = process_.read(reinterpret_cast<char*>(pixels), count);
      pixels += got;
      count -= got;
      if (count > 0 && process_.bytesAvailable() == 0 && !wait()) throw failure();
    }
  }

 private:
  bool is_running() const { return process_.state() != QProcess::NotRunning; }

  /// Whether there is more to read, or may be.
  bool wait() {
    const bool more = process_.waitForReadyRead(patience);
    check();
    return more || is_running() || process_.bytesAvailable() > 0;
  }

  void check() {
    check_stop(stop_);
    if (std::chrono::steady_clock::now() < end_) return;
    throw InputError(path_, "was not decoded within " + std::to_string(limits_.all.count()) + " s" +
                                save_it_otherwise);
  }

  void end() {
    if (!is_running()) return;
    process_.kill();
    process_.waitForFinished();
  }

  /// Why it ended without an answer.
  InputError failure() {
    end();
    if (process_.exitStatus() == QProcess::NormalExit) {
      if (process_.exitCode() == Cancelled().status()) throw Cancelled();  // by the same Ctrl-C
      if (process_.exitCode() == out_of_memory)
        throw UnavailableError(path_ +
                               ": decoding needs more memory than the budget allows; "
                               "--memory, or Compute > Memory budget in the window, allows "
                               "more");
      if (process_.exitCode() == out_of_time)
        return {path_, "decoding takes more than " + std::to_string(limits_.processor_seconds) +
                           " s of processor time" + save_it_otherwise};
    }
    return {path_,
            std::string("the process that decodes pictures crashed on it") + save_it_otherwise};
  }

  std::string path_;
  const std::stop_token& stop_;
  const PictureLimits& limits_;
  std::chrono::steady_clock::time_point end_;
  QProcess process_;
};

}  // namespace

ImageFile read_image(const FileBytes& file, int patch, int max_side, const std::stop_token& stop,
                     const PictureLimits& limits) {
  if (patch < 1 || patch > 4096)
    throw UsageError("--patch is " + std::to_string(patch) + "; expected 1 to 4096");
  if (max_side < 0)
    throw UsageError("--max-side is " + std::to_string(max_side) + "; expected 0 or more");
  const std::string& path = file.path();
  require_memory(static_cast<double>(file.size()), path);
  PictureProcess process(path, stop, limits);
  process.start(patch, max_side);
  process.send(file);
  PictureHead head = read_picture_answer(process.line(), path, patch);
  const auto bytes = static_cast<std::size_t>(head.width * head.height * 3);
  require_memory(static_cast<double>(bytes), path, "Fewer pixels need less");
  Picture picture{head.width, head.height, std::vector<std::uint8_t>(bytes)};
  process.read(picture.rgb.data(), std::ssize(picture.rgb));
  return {std::make_shared<Picture>(std::move(picture)),
          {head.height / patch, head.width / patch, 0},
          std::move(head.notes)};
}

void read_picture_for_other(std::istream& in, std::ostream& out, int patch, int max_side,
                            int processor_seconds) {
  begin_confinement(processor_seconds);
  std::string bytes;
  for (std::size_t size = 0; in; bytes.resize(size)) {
    bytes.resize(size + piece);
    in.read(bytes.data() + size, piece);
    size += static_cast<std::size_t>(in.gcount());
  }
  load_image_readers(bytes);
  const std::size_t memory = std::max(allowed_memory(), smallest_checked);
  set_memory_budget(memory);  // what is free cannot be looked up any more
  complete_confinement(memory);
  try {
    write_picture_answer(out, decode_image(bytes, patch, max_side));
  } catch (const Error& error) {
    write_picture_answer(out, error);
  }
  out.flush();
}

}  // namespace fovea
