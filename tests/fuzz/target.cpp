// The parsers for libFuzzer, which passes it the bytes that it makes up:  FOVEA_PARSER=npz fuzz
// CORPUS run.py starts it. A rule that does not hold ends the program, as what a sanitizer finds
// does.
#include <qlogging.h>

#include <cstdlib>
#include <string>

#include "fuzz/parsers.h"
#include "input/painting.h"

namespace {

const fovea::test::Parser* parser = nullptr;

void say_nothing(QtMsgType, const QMessageLogContext&, const QString&) {}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  static const fovea::Painting painting;  // finds the readers of pictures, and fonts
  qInstallMessageHandler(say_nothing);
  const char* name = std::getenv("FOVEA_PARSER");
  parser = &fovea::test::find_parser(name ? name : "");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  (void)accepts(*parser, std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
