// doctor.json: what was found, what is missing, how to get it. It describes one machine: nothing of
// it is meant to be the same elsewhere.
#pragma once

#include "base/text/json.h"
#include "doctor/examination.h"

namespace perflab::doctor {

/// The document "doctor" (schemas/doctor.schema.json).
Json doctor_document(const Examination& examination);

}  // namespace perflab::doctor
