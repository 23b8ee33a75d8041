/*
 * Monitors of your own, for `raw` bodies of properties, from a shared library:
 *
 *     property Third(f) { event use(f); raw: "third" @match { report "{f} is used for the third time"; } }
 *
 *     foresee check run.ft --spec third.rv --raw-monitors ./libthird.so
 *
 * A monitor is three functions over states, which are numbers: an index into what the library keeps, or all that there is to know. What they return
 * depends on their arguments alone: foresee steps a monitor along runs that did not happen, from any state that it was ever in, from several
 * threads at once. The library is loaded once and never unloaded. It runs in foresee's own process, with your rights: load only what you trust.
 */
#ifndef FORESEE_MONITORS_H
#define FORESEE_MONITORS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FORESEE_MONITORS_VERSION 1

/* What a state says, as bits. */
#define FORESEE_VERDICT_MATCH 1u
#define FORESEE_VERDICT_FAIL 2u
#define FORESEE_VERDICT_VIOLATION 4u
#define FORESEE_VERDICT_VALIDATION 8u

struct foresee_raw_monitor {
    /* What `raw: "…"` calls it. */
    const char *name;
    /* The state before any event; NULL for 0. */
    uint64_t (*start)(void);
    /* The state after an event, which is given by its position among the events that the property declares, from 0. */
    uint64_t (*step)(uint64_t state, uint32_t event);
    /* What a state says. It is asked after each event. */
    uint32_t (*verdicts)(uint64_t state);
};

struct foresee_raw_monitors {
    /* FORESEE_MONITORS_VERSION */
    uint32_t version;
    uint32_t count;
    const struct foresee_raw_monitor *monitors;
};

/* The library's own: all its monitors, in memory that stays. */
const struct foresee_raw_monitors *foresee_raw_monitors(void);

#ifdef __cplusplus
}
#endif

#endif
