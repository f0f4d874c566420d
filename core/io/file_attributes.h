// What a file has beside its content: mode, owner, group, access list, user attributes.
#pragma once

namespace fovea {

/// Gives the file `to` what the file `from` has, as far as the system allows. A group that cannot
/// be kept, or whose access list cannot, gets no more rights than all others have. Programs that
/// run as their owner do not after they were replaced. Descriptors; `from` may be one of O_PATH.
void take_attributes(int from, int to);

/// For a new file that was made with mode 0666: before Linux 5.19 some file systems (tmpfs) leave
/// the umask out where the file has no name.
void apply_umask(int file);

}  // namespace fovea
