#define END abort()
#include "busy_until.h"
