#include "input/backend_choice.h"

#include "data/error.h"

namespace fovea {

std::unique_ptr<Backend> make_backend(const BackendChoice& choice) {
  std::string why_not;
  if (choice.backend != "cpu")
    if (auto cuda =
            make_cuda_backend({.precision = choice.precision, .threads = choice.threads}, &why_not))
      return cuda;
  if (choice.backend == "cuda") throw UnavailableError("back end cuda: " + why_not);
  if (choice.precision != "fp32")
    throw UnavailableError("precision " + choice.precision + ": the CPU computes in fp32" +
                           (why_not.empty() ? "" : "; back end cuda: " + why_not));
  return make_cpu_backend({.threads = choice.threads});
}

}  // namespace fovea
