#include "base/system/network_file_system.h"

#include <gtest/gtest.h>
#include <linux/magic.h>

#include "base/temp_folder.h"

namespace perflab {
namespace {

TEST(NetworkFileSystem, IsKnownByItsNumber) {
  // The kernel's own names for some of them.
  EXPECT_EQ(network_file_system(NFS_SUPER_MAGIC), "NFS");
  EXPECT_EQ(network_file_system(CEPH_SUPER_MAGIC), "Ceph");
  EXPECT_EQ(network_file_system(SMB2_SUPER_MAGIC), "SMB");
  EXPECT_EQ(network_file_system(CIFS_SUPER_MAGIC), "SMB");
  EXPECT_EQ(network_file_system(FUSE_SUPER_MAGIC), "FUSE");
  EXPECT_EQ(network_file_system(OCFS2_SUPER_MAGIC), "OCFS2");
  EXPECT_EQ(network_file_system(0x0BD00BD0), "Lustre");
  for (const int local : {EXT4_SUPER_MAGIC, TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC, 0})
    EXPECT_EQ(network_file_system(static_cast<std::uint32_t>(local)), "") << local;
}

TEST(NetworkFileSystem, OfAPath) {
  EXPECT_EQ(network_file_system_of("/proc"), "");
  const test::TempFolder folder;
  EXPECT_EQ(network_file_system_of(folder / "nothing"), "");
}

}  // namespace
}  // namespace perflab
