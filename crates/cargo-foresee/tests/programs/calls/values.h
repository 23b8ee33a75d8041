// Functions of all kinds of parameters and results. What they are called with is up to the caller, in another file.
#include <stdbool.h>
enum level { LOW = -1, HIGH = 7 };
struct wrapped {
    long number;
};
int narrow(bool truth, signed char small, unsigned short middle, int whole);
long wide(long first, unsigned long second, unsigned third);
void *pointers(const char *text, void *object, int **place);
int many(int a, int b, int c, int d, int e, int f, int g, long h);
int enumerated(enum level level, struct wrapped wrapped);
short several(int which);
unsigned char leaf(int number);
bool truth(int number);
int recursive(int depth);
void nothing(int number);
double mixed(double real, int number, float another);
int chosen(int which, int number);
