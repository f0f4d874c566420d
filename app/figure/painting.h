// Draws on a device of Qt's that makes the bytes of a file, such as QPdfWriter.
#pragma once

#include <QPainter>
#include <memory>

#include "data/error.h"

namespace fovea {

/// Calls draw(painter, device) and ends the painter. Throws UnavailableError if the device cannot
/// be drawn on, and what `draw` throws. After an error in `draw` or at the end, except Cancelled,
/// painter and device are leaked on purpose: the destructor of an active painter ends its page,
/// which needs memory, and an exception from a destructor would end the program.
template <class Device, class Draw>
void paint(std::unique_ptr<Device> device, Draw draw) {
  auto painter = std::make_unique<QPainter>(device.get());
  if (!painter->isActive()) throw UnavailableError("the figure is too large to be drawn");
  try {
    try {
      draw(*painter, *device);
    } catch (const Cancelled&) {
      painter->end();
      throw;
    }
    painter->end();
  } catch (const Cancelled&) {
    throw;
  } catch (...) {
    (void)painter.release();
    (void)device.release();
    throw;
  }
}

}  // namespace fovea
