/* Annotations for C and C++ programs that foresee records.
 *
 * foresee sees memory, locks and threads of a program without any help. What they mean it can be told:
 *
 *     FORESEE_EVENT("put", FORESEE_OBJECT(queue), FORESEE_INT(n));   something happened that a property talks about
 *     FORESEE_WATCH(landing);                 name a variable, and record the values it has (FORESEE_WATCH_AS("name", place))
 *     FORESEE_ATOMIC_BEGIN("transfer");       from here ...
 *     FORESEE_ATOMIC_END();                   ... to here is meant to be one step
 *     FORESEE_ATOMIC_SCOPE("transfer");       the same, to the end of the scope, however it is left
 *     FORESEE_LOCAL(critical, 1);             a variable of this thread that a property talks about
 *     FORESEE_ON_VIOLATION("leave", leave, 0);  what `recover "leave"` of a property calls: void leave(const char *property, void *);
 *     FORESEE_OPERATION("insert", FORESEE_INT(x));         a method of a concurrent structure is called ...
 *     FORESEE_COMMIT();                                    ... takes effect here, while its lock is held ...
 *     FORESEE_RETURN("insert", FORESEE_STR("success"));    ... and returns; `foresee refine` holds it against a specification
 *     FORESEE_THROWN();                                    ... or ends without a result, by an exception
 *     FORESEE_COMMIT_BEGIN(); FORESEE_COMMIT_END();        what others see of the writes between is all or nothing
 *     FORESEE_LOG_WRITE("A[3].valid", FORESEE_BOOL(1));    a write that the contents of the structure are made of
 *     FORESEE_LOG_REPLAY("split", FORESEE_STR(text));      several writes at once: [["leaf[1]", [[1, 2]]], ["leaf[2]", []]]
 *     FORESEE_INTERNAL_THREAD();                           this thread works inside of the structure, and leaves its contents as they are
 *     FORESEE_NAME_LOCK(&mutex, "accounts");  what to call a lock in reports; before it is used first
 *     FORESEE_HAPPENS_BEFORE(&token);         what this thread did so far is ordered before what follows ...
 *     FORESEE_HAPPENS_AFTER(&token);          ... this in another thread, by means foresee does not know
 *
 * They are statements, and nothing at all (their arguments are not evaluated, as with assert) unless the compiler is
 * `foresee cc` or `foresee c++`, which define FORESEE. Even then a program runs without foresee's runtime: the functions
 * behind are weak. An argument of an event should not report an event itself.
 *
 * This file needs no other: copy it to your project, or include it where `__has_include(<foresee.h>)` says that it is there.
 */
#ifndef FORESEE_H
#define FORESEE_H

#if defined(FORESEE) && defined(__x86_64__) && defined(__linux__)

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What foresee's runtime offers; the address is 0 where it is missing. Texts need not end in a zero byte. */
void foresee_event(const char *name, size_t length) __attribute__((weak));
void foresee_arg_int(int64_t value) __attribute__((weak));
void foresee_arg_object(const volatile void *object) __attribute__((weak));
void foresee_arg_str(const char *text, size_t length) __attribute__((weak));
void foresee_local(const char *name, size_t length, uint64_t value) __attribute__((weak));
void foresee_on_violation(const char *name, size_t length, void (*recover)(const char *property, void *argument),
                          void *argument) __attribute__((weak));
void foresee_block_begin(const char *name, size_t length) __attribute__((weak));
void foresee_block_end(void) __attribute__((weak));
void foresee_call(const char *name, size_t length) __attribute__((weak));
void foresee_return(const char *name, size_t length) __attribute__((weak));
void foresee_commit(void) __attribute__((weak));
void foresee_commit_begin(void) __attribute__((weak));
void foresee_commit_end(void) __attribute__((weak));
void foresee_watch(const volatile void *variable, size_t size, const char *name, size_t length) __attribute__((weak));
void foresee_name_lock(const volatile void *lock, size_t size, const char *name, size_t length) __attribute__((weak));
void foresee_happens_before(const volatile void *token) __attribute__((weak));
void foresee_happens_after(const volatile void *token) __attribute__((weak));

#ifdef __cplusplus
}
#endif

/* The call is in the user's own line, not in a function here: that is where the runtime says that it came from. */
#define FORESEE_CALL_(function, ...) (function ? function(__VA_ARGS__) : (void)0)

#define FORESEE_FIRST_(first, ...) first
#define FORESEE_REST_(first, ...) __VA_ARGS__

#define FORESEE_INT(value) FORESEE_CALL_(foresee_arg_int, (int64_t)(value))
#define FORESEE_OBJECT(object) FORESEE_CALL_(foresee_arg_object, object)
#define FORESEE_STR(text) FORESEE_CALL_(foresee_arg_str, text, __builtin_strlen(text))

#define FORESEE_EVENT(...) \
    ((void)(FORESEE_REST_(__VA_ARGS__, (void)0)), FORESEE_EVENT_(FORESEE_FIRST_(__VA_ARGS__, 0)))
#define FORESEE_EVENT_(name) FORESEE_CALL_(foresee_event, name, __builtin_strlen(name))

/* Truth values and nothing, as `foresee refine` reads them. */
#define FORESEE_BOOL(value) FORESEE_STR((value) ? "true" : "false")
#define FORESEE_NIL() FORESEE_STR("nil")

#define FORESEE_OPERATION(...) \
    ((void)(FORESEE_REST_(__VA_ARGS__, (void)0)), FORESEE_OPERATION_(FORESEE_FIRST_(__VA_ARGS__, 0)))
#define FORESEE_OPERATION_(name) FORESEE_CALL_(foresee_call, name, __builtin_strlen(name))
#define FORESEE_RETURN(...) \
    ((void)(FORESEE_REST_(__VA_ARGS__, (void)0)), FORESEE_RETURN_(FORESEE_FIRST_(__VA_ARGS__, 0)))
#define FORESEE_RETURN_(name) FORESEE_CALL_(foresee_return, name, __builtin_strlen(name))
#define FORESEE_COMMIT() (foresee_commit ? foresee_commit() : (void)0)
#define FORESEE_COMMIT_BEGIN() (foresee_commit_begin ? foresee_commit_begin() : (void)0)
#define FORESEE_COMMIT_END() (foresee_commit_end ? foresee_commit_end() : (void)0)
#define FORESEE_LOG_WRITE(target, value) FORESEE_EVENT("log_write", (FORESEE_STR(target), value))
#define FORESEE_LOG_REPLAY(entry, value) FORESEE_EVENT("log_replay", (FORESEE_STR(entry), value))
#define FORESEE_THROWN() FORESEE_EVENT("log_panic")
#define FORESEE_INTERNAL_THREAD() FORESEE_EVENT("log_internal")

#define FORESEE_WATCH(variable) FORESEE_WATCH_AS(#variable, variable)
#define FORESEE_WATCH_AS(name, place) \
    FORESEE_CALL_(foresee_watch, &(place), sizeof(place), name, __builtin_strlen(name))

/* Values are signed 64-bit numbers: an unsigned one from 2^63 on is negative. */
#define FORESEE_LOCAL(name, value) \
    FORESEE_CALL_(foresee_local, #name, sizeof(#name) - 1, (uint64_t)(int64_t)(value))

/* On the thread that has found the violation, before it goes on: it may release what it holds, roll back, or end the thread or the
 * program. It may be left by a jump. An exception passes where the compiler expects one: at calls such as FORESEE_LOCAL and those of locks, and, without
 * optimisation, at accesses to memory. */
#define FORESEE_ON_VIOLATION(name, recover, argument) \
    FORESEE_CALL_(foresee_on_violation, name, __builtin_strlen(name), recover, argument)

#define FORESEE_NAME_LOCK(lock, name) \
    FORESEE_CALL_(foresee_name_lock, lock, sizeof(*(lock)), name, __builtin_strlen(name))

#define FORESEE_HAPPENS_BEFORE(token) FORESEE_CALL_(foresee_happens_before, token)
#define FORESEE_HAPPENS_AFTER(token) FORESEE_CALL_(foresee_happens_after, token)

#define FORESEE_ATOMIC_BEGIN(name) FORESEE_CALL_(foresee_block_begin, name, __builtin_strlen(name))
#define FORESEE_ATOMIC_END() (foresee_block_end ? foresee_block_end() : (void)0)

#define FORESEE_PASTE_(a, b) a##b
#define FORESEE_NAME_(a, b) FORESEE_PASTE_(a, b)

#ifdef __cplusplus
namespace foresee {
/* Ends an atomic block with its scope. */
struct block_end {
    block_end() {}
    ~block_end() { FORESEE_ATOMIC_END(); }

private:
    block_end(const block_end &);
    block_end &operator=(const block_end &);
};
} /* namespace foresee */

#define FORESEE_ATOMIC_SCOPE(name) \
    FORESEE_ATOMIC_BEGIN(name);    \
    ::foresee::block_end FORESEE_NAME_(foresee_block_, __LINE__)
#else
__attribute__((unused)) static inline void foresee_end_of_scope_(const char *unused) {
    (void)unused;
    FORESEE_ATOMIC_END();
}

#define FORESEE_ATOMIC_SCOPE(name) \
    FORESEE_ATOMIC_BEGIN(name);    \
    __attribute__((unused, cleanup(foresee_end_of_scope_))) char FORESEE_NAME_(foresee_block_, __LINE__)
#endif

#else /* not compiled by foresee */

#define FORESEE_INT(value) ((void)0)
#define FORESEE_OBJECT(object) ((void)0)
#define FORESEE_STR(text) ((void)0)
#define FORESEE_EVENT(...) ((void)0)
#define FORESEE_BOOL(value) ((void)0)
#define FORESEE_NIL() ((void)0)
#define FORESEE_OPERATION(...) ((void)0)
#define FORESEE_RETURN(...) ((void)0)
#define FORESEE_COMMIT() ((void)0)
#define FORESEE_COMMIT_BEGIN() ((void)0)
#define FORESEE_COMMIT_END() ((void)0)
#define FORESEE_LOG_WRITE(target, value) ((void)0)
#define FORESEE_LOG_REPLAY(entry, value) ((void)0)
#define FORESEE_THROWN() ((void)0)
#define FORESEE_INTERNAL_THREAD() ((void)0)
#define FORESEE_WATCH(variable) ((void)0)
#define FORESEE_WATCH_AS(name, place) ((void)0)
#define FORESEE_LOCAL(name, value) ((void)0)
#define FORESEE_ON_VIOLATION(name, recover, argument) ((void)0)
#define FORESEE_NAME_LOCK(lock, name) ((void)0)
#define FORESEE_HAPPENS_BEFORE(token) ((void)0)
#define FORESEE_HAPPENS_AFTER(token) ((void)0)
#define FORESEE_ATOMIC_BEGIN(name) ((void)0)
#define FORESEE_ATOMIC_END() ((void)0)
#define FORESEE_ATOMIC_SCOPE(name) ((void)0)

#endif
#endif
