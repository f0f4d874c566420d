#include "worker/offered_model.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "data/error.h"
#include "live/live_address.h"

namespace fovea {
namespace {

UnavailableError gone(const std::string& model) {
  return UnavailableError("no program offers " + model.substr(offered_prefix.size()) +
                          " any more; call fovea.look again, and use its window");
}

Descriptor connected_to(const std::string& model) {
  const std::string name = model.substr(offered_prefix.size());
  const std::string path = live_folder() + "/look-" + name + ".sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.find('/') != std::string::npos || path.size() >= sizeof address.sun_path)
    throw gone(model);
  std::memcpy(address.sun_path, path.data(), path.size());
  Descriptor line(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!line ||
      ::connect(line.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      user_at(line.get()) != ::getuid())
    throw gone(model);
  return line;
}

}  // namespace

OfferedModel::OfferedModel(const std::string& model)
    : model_(model), channel_(connected_to(model)) {}

std::string OfferedModel::last_words() {
  return gone(model_).what();
}

}  // namespace fovea
