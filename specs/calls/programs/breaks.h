/* Each program keeps all properties of its theme, or breaks the one that it is told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *told = "";

static int breaks(const char *property) { return strcmp(told, property) == 0; }

static void check(int holds) {
    if (!holds) abort();
}
