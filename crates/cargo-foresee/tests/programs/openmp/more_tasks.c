/* Tasks: events, objects of dependences, groups within groups, waiting for some tasks only. */
#include <omp.h>
#include <unistd.h>
static int x, y, exclusive, part[4], inner, seen, event_seen, depth;
int main(void) {
    #pragma omp parallel num_threads(4)
    {
        #pragma omp single
        {
            for (int i = 0; i < 4; i++) {
                #pragma omp task depend(mutexinoutset : exclusive)
                exclusive++;
            }
            #pragma omp task depend(in : exclusive)
            seen = exclusive;
            #pragma omp task depend(out : x)
            x = 1;
            #pragma omp task depend(out : y)
            y = 1;
            #pragma omp taskwait depend(in : x)
            x++;
            #pragma omp taskwait
            y++;
            omp_depend_t object;
            #pragma omp depobj(object) depend(inout : x)
            for (int i = 0; i < 3; i++) {
                #pragma omp task depend(depobj : object)
                x++;
            }
            #pragma omp task depend(in : x) if (0)
            y += x;
            #pragma omp depobj(object) destroy
        }
        #pragma omp single
        {
            #pragma omp taskgroup
            {
                #pragma omp task
                {
                    #pragma omp taskgroup
                    {
                        #pragma omp task
                        inner = 1;
                    }
                    inner++;
                    #pragma omp task
                    depth = inner;
                }
                #pragma omp taskgroup
                for (int i = 0; i < 4; i++) {
                    #pragma omp task firstprivate(i)
                    part[i] = i;
                }
                for (int i = 0; i < 4; i++) part[i]++;
            }
            depth += part[3];
        }
        #pragma omp single
        {
            omp_event_handle_t event;
            #pragma omp task detach(event)
            {
                #pragma omp task firstprivate(event)
                {
                    event_seen = 1;
                    omp_fulfill_event(event);
                }
            }
            #pragma omp taskwait
            event_seen++;
        }
    }
    return seen != 4 || x != 5 || y != 7 || depth != 6 || event_seen != 2;
}
