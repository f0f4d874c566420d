#include "input/self_tests.h"

#include <QDate>
#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>
#include <algorithm>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string_view>

#include "backend/backends.h"
#include "data/error.h"
#include "data/number_text.h"
#include "input/own_files.h"
#include "io/atomic_file.h"
#include "io/json.h"

namespace fovea {
namespace {

constexpr std::string_view wgmma_ending = "-wgmma";

bool can_use_wgmma(std::string_view precision) {
  return !precision.starts_with("fp32");
}

QString to_qt(const std::string& text) {
  return QString::fromStdString(text);
}

/// Empty if there is no such file, or if another program wrote it.
Json verdicts_in(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  try {
    Json verdicts = parse_json(path, text.str());
    if (verdicts.is_object()) return verdicts;
  } catch (const InputError&) {
  }
  return Json::object();
}

/// The last line of what the program wrote: its verdict, or the head that it tests.
std::string last_line(const QByteArray& output) {
  return QString::fromUtf8(output).trimmed().section('\n', -1).toStdString();
}

/// ", in: Exact, n = 500, d = 64"; empty if the program has not reached a head.
std::string head_in(const std::string& line) {
  try {
    return ", in: " + parse_json("self-test", line).at("testing").get<std::string>();
  } catch (const std::exception&) {
    return "";
  }
}

/// The verdict of the program that ran, as the program wrote it.
Verdict verdict_in(const std::string& output) {
  const Json json = parse_json("self-test", output);
  if (!json.is_object() || !json.contains("finding") || !json["finding"].is_string() ||
      !json.contains("seconds") || !json["seconds"].is_number())
    throw InputError("self-test", "expected a finding and seconds");
  Verdict verdict{.finding = json["finding"], .seconds = json["seconds"]};
  verdict.passed = verdict.finding.empty();
  return verdict;
}

}  // namespace

std::string verdict_text(const Verdict& verdict) {
  if (verdict.passed)
    return "passed the self-test (" + verdict.date + ", " + format_number(verdict.seconds) + " s)";
  return "failed the self-test" + (verdict.date.empty() ? "" : " (" + verdict.date + ")") + ": " +
         verdict.finding;
}

std::vector<std::string> verdict_names(const CudaDevice& device) {
  std::vector<std::string> names;
  for (const char* precision : gpu_precisions) {
    if (const std::string name = wgmma_verdict_name(device, precision); !name.empty())
      names.push_back(name);
    names.emplace_back(precision);
  }
  return names;
}

std::string wgmma_verdict_name(const CudaDevice& device, const std::string& precision) {
  return device.wgmma && can_use_wgmma(precision) ? precision + std::string(wgmma_ending) : "";
}

std::optional<CudaOptions> options_of_verdict(const std::string& name) {
  const bool wgmma = name.ends_with(wgmma_ending);
  const std::string precision = wgmma ? name.substr(0, name.size() - wgmma_ending.size()) : name;
  if (std::ranges::find(gpu_precisions, precision) == gpu_precisions.end()) return std::nullopt;
  if (wgmma && !can_use_wgmma(precision)) return std::nullopt;
  return CudaOptions{.precision = precision, .wgmma = wgmma};
}

SelfTests::SelfTests(std::string program, std::string file, std::chrono::milliseconds limit)
    : program_(std::move(program)), file_(std::move(file)), limit_(limit) {}

SelfTests SelfTests::of_this_program() {
  const QString cache = QStandardPaths::writableLocation(QStandardPaths::GenericCacheLocation);
  return {own_program(), (cache + "/fovea/self-tests.json").toStdString()};
}

std::string SelfTests::key(const CudaDevice& device, const std::string& precision) const {
  const QFileInfo program(to_qt(program_));
  return device.name + " " + device.id + ", driver " + device.driver + ", program of " +
         std::to_string(program.size()) + " bytes from " +
         program.lastModified().toUTC().toString(Qt::ISODateWithMs).toStdString() + ", " +
         precision;
}

std::optional<Verdict> SelfTests::remembered(const CudaDevice& device,
                                             const std::string& precision) const {
  const Json verdicts = verdicts_in(file_);
  const auto found = verdicts.find(key(device, precision));
  if (found == verdicts.end()) return std::nullopt;
  try {
    Verdict verdict = verdict_in(found->dump());
    verdict.date = found->value("date", "");
    return verdict;
  } catch (const std::exception&) {
    return std::nullopt;  // tested again
  }
}

Verdict SelfTests::test(const CudaDevice& device, const std::string& precision) const {
  QProcess process;
  process.start(to_qt(program_), {"self-test", "--precision", to_qt(precision)});
  Verdict verdict;
  const auto refuse = [&](const std::string& finding) { verdict = {.finding = finding}; };
  if (!process.waitForStarted()) {
    refuse("It could not be started: " + program_ + ": " + process.errorString().toStdString() +
           ".");
    return verdict;  // says nothing about the GPU, and is not remembered
  }
  const auto limit = static_cast<int>(limit_.count());
  QByteArray output;
  while (process.waitForReadyRead(limit)) output += process.readAllStandardOutput();
  if (process.state() != QProcess::NotRunning && !process.waitForFinished(0)) {
    process.kill();
    process.waitForFinished();
    refuse("It was ended after " + std::to_string(limit_.count() / 1000) + " s without a result" +
           head_in(last_line(output)) +
           ". Other work may keep the GPU busy, or the driver may still compile kernels. The next "
           "start tests again, and so does `fovea info --devices`.");
    return verdict;
  }
  output += process.readAllStandardOutput();
  if (process.exitStatus() == QProcess::CrashExit) {
    refuse("It crashed" + head_in(last_line(output)) + ".");
  } else if (process.exitCode() != 0) {
    refuse("It was not finished: " + last_line(process.readAllStandardError()));
    return verdict;  // stopped by Ctrl-C, or no memory was left: the next test may end differently
  } else {
    try {
      verdict = verdict_in(last_line(output));
    } catch (const InputError& error) {
      refuse(std::string("What it wrote cannot be read: ") + error.what());
    }
  }
  verdict.date = QDate::currentDate().toString(Qt::ISODate).toStdString();
  remember(key(device, precision), verdict);
  return verdict;
}

Verdict SelfTests::verdict(const CudaDevice& device, const std::string& precision) const {
  const auto known = remembered(device, precision);
  return known ? *known : test(device, precision);
}

// A folder that cannot be written costs a test at each start and nothing else.
void SelfTests::remember(const std::string& key, const Verdict& verdict) const {
  Json verdicts = verdicts_in(file_);
  verdicts[key] = {
      {"finding", verdict.finding}, {"seconds", verdict.seconds}, {"date", verdict.date}};
  QDir().mkpath(QFileInfo(to_qt(file_)).path());
  try {
    write_atomically(file_, [&](std::ostream& file) { file << verdicts.dump(2) << '\n'; });
  } catch (const UnavailableError&) {
  }
}

}  // namespace fovea
