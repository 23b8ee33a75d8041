#include <search.h>

struct operations {
    void (*wait)(int *flag);
    void (*set)(int *flag);
    void (*wait_and_jump)(int *flag, void *to);
    void (*wait_and_call)(int *flag, void (*call)(void));
};
extern const struct operations library;

struct object {
    int owners, value;
    void (*destroy)(struct object *);
};
extern struct object *library_object;
void library_drop(void *object);
void library_drop_it(void);
void library_visit(const void *node, VISIT visit, int depth);
