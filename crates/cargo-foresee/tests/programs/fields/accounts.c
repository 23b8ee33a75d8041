#include "accounts.h"

Account *account_open(int64_t balance) {
    Account *account = calloc(1, sizeof *account);
    account->balance = balance;
    account->limits.daily = -3;
    account->limits.level = 200;
    account->is_open = 1;
    account->last[2] = (int32_t)balance;
    return account;
}

void account_take(int64_t amount, Account *account) {
    if (account) {
        account->balance -= amount;
        account->last[2] -= (int32_t)amount;
    }
}

void account_put(Account *account, int64_t amount) {
    account->balance += amount;
}

void account_close(Account *account) {
    account->is_open = 0;
    free(account);
}
