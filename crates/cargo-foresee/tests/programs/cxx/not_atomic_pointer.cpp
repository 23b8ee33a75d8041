// A pointer whose count is made for one thread, handed to another: what `Rc` is to Rust, where the compiler would refuse it.
#include "threads.h"
#include <memory>
#ifdef FIXED
using Shared = std::shared_ptr<int>;
#else
using Shared = std::__shared_ptr<int, __gnu_cxx::_S_single>;
#endif
int main() {
    Shared ours(new int(7));
    together([ours] { Shared copy = ours; }, // wrong
             [ours] { Shared copy = ours; }); // wrong
    return *ours != 7;
}
