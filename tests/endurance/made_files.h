// The MadeFiles of a run lie in its temporary folder: sources of every kind that can be opened, and
// files that cannot be.
#pragma once

#include <QString>
#include <QStringList>

namespace fovea::test {

struct MadeFiles {
  QString folder;         // the figures, sessions and numbers of the run are written here, too
  QStringList good, bad;  // paths; the bad ones are refused with a message

  /// Makes them in a folder that is there.
  explicit MadeFiles(const QString& folder);
  /// A path in the folder.
  QString at(const QString& name) const { return folder + "/" + name; }
};

}  // namespace fovea::test
