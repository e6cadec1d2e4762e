// The rocpd format of 2023-24 (rocmProfileData, rocprofiler v1 and v2): unsuffixed tables rocpd_op,
// rocpd_api, rocpd_kernelop. Only as much as a reader needs to see that it cannot read it.
#include <string>

#include "support/rocpd_writer.h"

namespace perflab::test {
namespace {

constexpr const char* kTables = R"(
CREATE TABLE "rocpd_metadata" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "tag" varchar(4096) NOT NULL, "value" varchar(4096) NOT NULL);
CREATE TABLE "rocpd_string" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "string" varchar(4096) NOT NULL);
CREATE TABLE "rocpd_op" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "gpuId" integer NOT NULL, "queueId" integer NOT NULL, "sequenceId" integer NOT NULL,
  "completionSignal" varchar(18) NOT NULL, "start" integer NOT NULL, "end" integer NOT NULL,
  "description_id" integer NOT NULL REFERENCES "rocpd_string" ("id"),
  "opType_id" integer NOT NULL REFERENCES "rocpd_string" ("id"));
CREATE TABLE "rocpd_api" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "pid" integer NOT NULL, "tid" integer NOT NULL, "start" integer NOT NULL,
  "end" integer NOT NULL, "apiName_id" integer NOT NULL REFERENCES "rocpd_string" ("id"),
  "args_id" integer NOT NULL REFERENCES "rocpd_string" ("id"));
CREATE TABLE "rocpd_api_ops" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "api_id" integer NOT NULL REFERENCES "rocpd_api" ("id"),
  "op_id" integer NOT NULL REFERENCES "rocpd_op" ("id"));
CREATE TABLE "rocpd_kernelop" ("op_ptr_id" integer NOT NULL PRIMARY KEY
  REFERENCES "rocpd_op" ("id"), "gridX" integer NOT NULL, "workgroupX" integer NOT NULL,
  "kernelName_id" integer NOT NULL REFERENCES "rocpd_string" ("id"));
)";

constexpr const char* kRows = R"(
INSERT INTO rocpd_metadata VALUES (1, 'schema_version', '2');
INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'KernelExecution'),
  (4, 'saxpy(float*, float const*, float, int)');
INSERT INTO rocpd_api VALUES (1, 4242, 4242, 5000000000000, 5000000004000, 2, 1);
INSERT INTO rocpd_op VALUES (1, 0, 0, 1, '', 5000000009000, 5000000019000, 4, 3);
INSERT INTO rocpd_api_ops VALUES (1, 1, 1);
INSERT INTO rocpd_kernelop VALUES (1, 65536, 256, 4);
)";

}  // namespace

Result<void> write_legacy_rocpd(const std::filesystem::path& path) {
  RocpdFile file(path, {.views = Views::none, .append = false});
  file.execute(kTables);
  file.execute(kRows);
  return file.close();
}

}  // namespace perflab::test
