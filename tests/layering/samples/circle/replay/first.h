#include "replay/second.h"
