// The document `certificate`: what `replay verify` found. Schema: schemas/certificate.schema.json.
#pragma once

#include <string>

#include "base/text/json.h"
#include "capture/model.h"
#include "replay/device.h"
#include "replay/verify/verify.h"

namespace perflab::report {

/// Everything that the document and the text are made from.
struct CertificateData {
  replay::Certificate certificate;
  replay::VerifyOptions options;
  capture::Description description;  ///< of the capture
  replay::DeviceFacts device;
  std::string capture_folder;
};

Json certificate_document(const CertificateData& data);

/// The region's name in tables: "0x7f0000200000", or a variable's symbol.
std::string region_name(const capture::MemoryRegion& region);

}  // namespace perflab::report
