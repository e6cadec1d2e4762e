#include "replay/first.h"
