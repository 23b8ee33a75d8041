#include <stdint.h>
#include <stdlib.h>

struct limits { int16_t daily; uint8_t level; };

typedef struct {
    const char *owner;
    int64_t balance;
    unsigned flags : 3;
    struct limits limits;
    _Bool is_open;
    double rate;
    int32_t last[4];
} Account;

Account *account_open(int64_t balance);
void account_take(int64_t amount, Account *account);
void account_put(Account *account, int64_t amount);
void account_close(Account *account);
