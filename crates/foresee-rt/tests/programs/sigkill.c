#define END kill(getpid(), SIGKILL)
#include "busy_until.h"
