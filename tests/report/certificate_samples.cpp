// See certificate_samples.h.
#include "report/certificate_samples.h"

namespace perflab::report {

CertificateData wrong_candidate() {
  CertificateData data;
  data.description.machine.isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
  data.description.dispatch.ordinal = 3;
  data.description.regions.resize(3);
  data.description.regions[0].base = 0x7f0000200000;
  data.description.regions[1].base = 0x7f0000400000;
  data.description.regions[2].origin = capture::Origin::variable;
  data.description.regions[2].symbol = "table";
  data.device.agent_name = "gfx942";
  data.device.isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
  data.device.runtime_version = "1.21";
  data.capture_folder = "capture";
  data.options.code_object = "faster.hsaco";
  data.options.compare.max_ulp = 4;
  replay::Certificate& certificate = data.certificate;
  certificate.kernel = "_Z1kPf";
  certificate.demangled = "k(float*)";
  certificate.capture_hash = "xxh3:0123456789abcdef";
  certificate.code_object_hash = "xxh3:fedcba9876543210";
  certificate.original = false;
  certificate.reproduces = true;
  certificate.runs = 3;
  certificate.left_memory.what = {.lds_bytes = 65536, .scratch_bytes = 128, .vgprs = 512};
  certificate.verdict = replay::ProofVerdict::differs;
  certificate.sentence =
      "The other code object does not compute the same: 2 of 1024 elements differ.";
  certificate.notes = {"1 of 4 regions were not captured"};
  replay::RegionVerdict right;
  right.changed_bytes = right.compared_bytes = right.pure_output_bytes = 4096;
  right.changed_poison_bytes = 4096;
  right.poisoned = true;
  right.verdict = replay::ProofVerdict::bitwise;
  right.comparison.type = replay::ElementType::f32;
  right.comparison.type_from = "given";
  right.comparison.elements = 1024;
  replay::RegionVerdict wrong = right;
  wrong.region = 1;
  wrong.verdict = replay::ProofVerdict::differs;
  wrong.not_rewritten_bytes = 8;
  wrong.not_deterministic = {{.offset = 64, .bytes = 4}, {.offset = 128, .bytes = 8}};
  wrong.not_deterministic_bytes = 12;
  wrong.not_deterministic_ranges = 2;
  wrong.comparison.different = 5;
  wrong.comparison.beyond_tolerance = 2;
  wrong.comparison.nan_found = 1;
  wrong.comparison.largest_ulp = UINT64_MAX;
  wrong.comparison.largest_relative = 0.5;
  wrong.comparison.largest_absolute = 1e-7;
  wrong.comparison.ulp = {{.upto = "1", .elements = 3}, {.upto = "1048576", .elements = 1}};
  wrong.comparison.relative = {{.upto = "1e-7", .elements = 3}, {.upto = "1e0", .elements = 1}};
  wrong.comparison.absolute = {{.upto = "1e-7", .elements = 4}};
  wrong.comparison.examples = {{.offset = 16, .expected = "1", .found = "nan"},
                               {.offset = 20, .expected = "2", .found = "3"}};
  replay::RegionVerdict stray;
  stray.region = 2;
  stray.unexpected_bytes = stray.compared_bytes = 2;
  stray.verdict = replay::ProofVerdict::differs;
  stray.comparison.elements = stray.comparison.different = stray.comparison.beyond_tolerance = 2;
  stray.comparison.examples = {{.offset = 1, .expected = "0x00", .found = "0x07"}};
  certificate.regions = {right, wrong, stray};
  return data;
}

CertificateData plain_original() {
  CertificateData data = wrong_candidate();
  data.options = {};
  data.options.poison = replay::Poison::none;
  data.certificate.poison = replay::Poison::none;
  data.certificate.original = true;
  data.certificate.left_memory = {
      .what = std::nullopt, .missing_because = "no kernel that does it is built in for gfx942"};
  data.certificate.notes.clear();
  data.certificate.regions.resize(1);
  data.certificate.regions[0].poisoned = false;
  data.certificate.verdict = replay::ProofVerdict::bitwise;
  data.certificate.sentence = "This capture reproduces itself, bitwise, over 3 runs.";
  data.device.rocm_version = "7.0";
  data.device.product_name = "AMD Instinct MI300X";
  return data;
}

}  // namespace perflab::report
