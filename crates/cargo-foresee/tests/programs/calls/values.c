#include "values.h"
int seen;
int narrow(bool truth, signed char small, unsigned short middle, int whole) {
    seen++;
    return truth ? small + middle : whole;
}
long wide(long first, unsigned long second, unsigned third) {
    seen++;
    return first + (long)second + third;
}
void *pointers(const char *text, void *object, int **place) {
    **place = *text;
    return object;
}
int many(int a, int b, int c, int d, int e, int f, int g, long h) {
    seen++;
    return a + b + c + d + e + f + g + (int)h;
}
int enumerated(enum level level, struct wrapped wrapped) {
    seen++;
    return (int)level + (int)wrapped.number;
}
short several(int which) {
    if (which > 100) return (short)(which - 7);
    for (int i = 0; i < which; i++)
        if (seen++ == 3) return -1;
    seen += which;
    return (short)-which;
}
unsigned char leaf(int number) { return (unsigned char)(number * 3); }
bool truth(int number) { return number > 0; }
int recursive(int depth) { return depth == 0 ? seen : 1 + recursive(depth - 1); }
void nothing(int number) { seen += number; }
double mixed(double real, int number, float another) {
    seen++;
    return real + number + (double)another;
}
int chosen(int which, int number) {
    switch (which) {
        case 0: return number;
        case 1: seen++; return -number;
        case 2: return seen += number;
        case 3: nothing(number); return 3;
        case 4: return recursive(2);
        case 5: nothing(1); nothing(2); return number * number;
        default: return 77;
    }
}
