// The numbers are those that GNU coreutils marks as remote (src/stat.c, human_fstype), but for
// those that only look so: overlays, pipes, the folders of a virtual machine's host.
#include "base/system/network_file_system.h"

#include <sys/vfs.h>

#include <algorithm>
#include <array>

namespace perflab {
namespace {

struct NetworkFileSystem {
  std::uint32_t number;
  std::string_view name;
};

constexpr std::array<NetworkFileSystem, 19> kNetworkFileSystems{{
    {0x0000'517B, "SMB"},   {0x0000'564C, "NCP"},    {0x0000'6969, "NFS"},
    {0x0116'1970, "GFS2"},  {0x0131'11A8, "IBRIX"},  {0x0BD0'0BD0, "Lustre"},
    {0x00C3'6400, "Ceph"},  {0x1983'0326, "BeeGFS"}, {0x4750'4653, "GPFS"},
    {0x5346'414F, "AFS"},   {0x6573'5546, "FUSE"},  // sshfs, GlusterFS and others; a local one
                                                    // loses nothing
    {0x6163'6673, "ACFS"},  {0x6B41'4653, "AFS"},    {0x7375'7245, "Coda"},
    {0x7461'636F, "OCFS2"}, {0xAAD7'AAEA, "PanFS"},  {0xBEEF'DEAD, "StorNext"},
    {0xFE53'4D42, "SMB"},   {0xFF53'4D42, "SMB"},
}};

}  // namespace

std::string_view network_file_system(std::uint32_t number) {
  const auto* const found =
      std::ranges::find(kNetworkFileSystems, number, &NetworkFileSystem::number);
  return found == kNetworkFileSystems.end() ? std::string_view() : found->name;
}

std::string_view network_file_system_of(const std::filesystem::path& path) {
  struct statfs info{};
  if (::statfs(path.c_str(), &info) != 0) return {};
  return network_file_system(static_cast<std::uint32_t>(info.f_type));
}

}  // namespace perflab
