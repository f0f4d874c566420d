// Makes the device fail, as an illegal access does: every later call of this process fails.
#pragma once

namespace fovea::test {

void lose_device();

}  // namespace fovea::test
