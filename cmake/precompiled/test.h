// Precompiled for tests (cmake/PerflabPrecompiled.cmake), as library.h for what they test.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "library.h"
