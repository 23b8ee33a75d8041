// Instrumented, but not to tell its branches.
void in_library(int it, int *place) {
    if (it) *place = 2;
}
