// The attributes of a file: mode, owner, group, access list, user attributes.
#pragma once

namespace fovea {

/// Gives the file `to` the attributes of the regular file `from`, as far as the system allows; none
/// if `from` is a link or device. If the group or the access list cannot be kept, the group gets no
/// more rights than all others have. Set-user-ID and set-group-ID bits are not kept. Descriptors;
/// `from` may be one of O_PATH.
void take_attributes(int from, int to);

/// Applies the umask to a new file that was made with mode 0666: before Linux 5.19 some file
/// systems (tmpfs) do not apply it to files without a name.
void apply_umask(int file);

}  // namespace fovea
