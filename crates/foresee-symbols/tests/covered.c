// Functions of which a recording shows everything (`seen_…`), and others of which it does not (`blind_…`).
#include <stdlib.h>

typedef struct Node { struct Node *next; long value; char small; short pair[2]; double real; float real4; } Node;
extern Node *global;
extern long array[64];
int sink(int);
void unknown(void);

long seen_list(Node *list) { long sum = 0; for (Node *one = list; one; one = one->next) sum += one->value; return sum; }
void seen_fields(Node *a, Node *b) { a->value = b->value; a->small++; a->pair[1] = b->pair[0]; a->real += b->real; a->real4 = 1; }
long seen_array(long *at, int n) { long s = 0; for (int i = 0; i < n; i++) { s += at[i] * at[n - i]; at[i] = s; } return s; }
long seen_global(int i) { array[i & 63] += 2; if (global) global->value = array[(i + 1) & 63]; return array[3]; }
int seen_switch(int k, long *p) {
    switch (k) {
    case 0: return (int)*p;
    case 1: *p = 5; return 1;
    case 2: return (int)p[1];
    case 3: p[2]++; return 7;
    case 4: p[3] = p[4]; return 9;
    case 5: p[9] = 3; return 2;
    default: return 0;
    }
}
long seen_locals(int n) { long local[16]; for (int i = 0; i < 16; i++) local[i] = i * n; return local[n & 15]; }
char seen_text(const char *text) { char last = 0; while (*text) { if (*text == ' ') last = text[1]; text++; } return last; }
void seen_swap(long *a, long *b) { long t = *a; *a = *b; *b = t; }
long seen_branches(Node *a, Node *b, int c) {
    Node *one = c ? a : b;
    if (one->value > 3) one = one->next;
    for (int i = 0; i < c; i++) { one->value += i; if (one->small) { one->pair[0] = 1; one = one->next; } }
    return one->value;
}
unsigned seen_matrix(unsigned m[8][8], int n) { unsigned s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += m[i][j] ^ m[j][i]; return s; }
long seen_atomic_loads(int *flag, long *value) {
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) { }
    return __atomic_load_n(value, __ATOMIC_RELAXED) + __atomic_load_n(&array[7], __ATOMIC_SEQ_CST);
}

// Each has an access that is announced, too: functions without one are not instrumented.
void blind_call(long *p) { *p = 1; unknown(); *p = 2; }
long blind_load(long *p, long *q) { long r; asm volatile("movq %1, %0" : "=r"(r) : "m"(*p)); return r + *q; }
void blind_atomic(int *p, long *q) { asm volatile("lock incl %0" : "+m"(*p)); *q = 1; }
void blind_copy(char *to, const char *from, long *q) { long n = *q; asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory"); }
void blind_through(int (*f)(int), long *q) { *q = f(3); }
