// C++: tasks and loops of tasks with objects of their own, exceptions within regions, reductions of classes, thread-private data.
#include <omp.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
struct Counted {
    std::shared_ptr<int> value;
    std::vector<int> items;
    explicit Counted(int n) : value(std::make_shared<int>(n)), items(n, 1) {}
};
struct Sum {
    std::vector<long> parts = std::vector<long>(3);
    Sum &operator+=(const Sum &other) {
        for (int i = 0; i < 3; i++) parts[i] += other.parts[i];
        return *this;
    }
};
#pragma omp declare reduction(+ : Sum : omp_out += omp_in)
static int own = 3;
#pragma omp threadprivate(own)
static int results[8], caught[4], owned[4], lengths;
static long looped[32];
int main() {
    for (int round = 0; round < 3; round++) {
        #pragma omp parallel num_threads(4)
        {
            #pragma omp single
            {
                Counted counted(10);
                for (int i = 0; i < 8; i++) {
                    #pragma omp task firstprivate(counted, i)
                    {
                        counted.items.push_back(i);
                        results[i] = counted.items.size() + *counted.value;
                    }
                }
                std::string text = "a text that is too long to be kept inside of the object";
                #pragma omp taskloop grainsize(2) firstprivate(text)
                for (int i = 0; i < 32; i++) {
                    text += 'x';
                    looped[i] = text.size();
                }
                for (long length : looped) lengths += length > 0;
            }
            try {
                if (omp_get_thread_num() % 2) throw std::runtime_error("odd");
            } catch (std::exception &) {
                caught[omp_get_thread_num()]++;
            }
        }
    }
    Sum sum;
    #pragma omp parallel for num_threads(4) reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum.parts[i % 3] += i;
    own = 5;
    #pragma omp parallel num_threads(4) copyin(own)
    {
        own += omp_get_thread_num();
        owned[omp_get_thread_num()] = own;
    }
    return results[7] != 21 || lengths != 96 || sum.parts[0] != 1683 || owned[3] != 8 || caught[1] != 3;
}
