// A lock on the wrong object: each transfer locks the account that the money comes from, not the one that it goes to.
#include "threads.h"
struct Account {
    std::mutex guard;
    long balance = 100;
};
static Account ours, theirs, savings;
#ifdef FIXED
static void transfer(Account &from, Account &to, long amount) {
    std::scoped_lock<std::mutex, std::mutex> held(from.guard, to.guard);
#else
static void transfer(Account &from, Account &to, long amount) {
    std::lock_guard<std::mutex> held(from.guard);
#endif
    from.balance -= amount;
    to.balance += amount; // wrong
}
int main() {
    together([] { transfer(ours, savings, 30); }, [] { transfer(theirs, savings, 20); });
    return ours.balance + theirs.balance != 150;
}
