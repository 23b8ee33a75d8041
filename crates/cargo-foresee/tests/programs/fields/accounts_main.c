// Takes more than there is from one of three accounts, with -DOVERDRAWN; memory of a closed account is used again.
#include "accounts.h"

int main(void) {
    for (int round = 0; round < 3; round++) {
        Account *account = account_open(100 * round);
        account_put(account, 50);
#ifdef OVERDRAWN
        account_take(round == 1 ? 151 : 10, account);
#else
        account_take(10, account);
#endif
        account_take(0, account);
        account_take(1000, 0);
        account_close(account);
    }
    return 0;
}
