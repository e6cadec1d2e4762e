#include "report/roofline/chart.h"
