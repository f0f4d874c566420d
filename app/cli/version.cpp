#include "cli/version.h"

#include <QtGlobal>

#include "backend/backends.h"
#include "commit.h"  // written by commit.cmake

namespace fovea {

std::string version_number() {
  return FOVEA_VERSION;
}

std::string version_text() {
  const std::string cuda = cuda_capabilities();
  return "fovea " + version_number() +
         "\ncommit     " FOVEA_COMMIT "\ncompiler   " FOVEA_COMPILER
         "\nback ends  CPU (SSE2, AVX2, AVX-512), CUDA (" +
         (cuda.empty() ? "not built" : "compute capability " + cuda) + ")\nQt         " +
         qVersion();
}

}  // namespace fovea
