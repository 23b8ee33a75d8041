#include "breaks.h"
#include <sqlite3.h>

int main(int count, char **words) {
    if (count > 1) told = words[1];
    sqlite3 *db;
    sqlite3_stmt *statement;
    check(sqlite3_open(":memory:", &db) == SQLITE_OK);
    check(sqlite3_exec(db, "create table t(x)", NULL, NULL, NULL) == SQLITE_OK);
    check(sqlite3_prepare_v2(db, "select ?1", -1, &statement, NULL) == SQLITE_OK);
    for (int round = 0; round < 3; round++) {
        sqlite3_bind_int(statement, 1, round);
        if (breaks("ColumnBeforeStep")) (void)sqlite3_column_int(statement, 0);
        check(sqlite3_step(statement) == SQLITE_ROW);
        (void)sqlite3_column_int(statement, 0);
        if (breaks("BoundWithoutReset")) sqlite3_bind_int(statement, 1, 7);
        sqlite3_reset(statement);
    }
    check(sqlite3_close(db) == SQLITE_BUSY);
    if (breaks("StatementLeftOpen")) return 0;
    sqlite3_finalize(statement);
    /* Those that are nothing may be finalized and closed, as often as one likes. */
    sqlite3_stmt *ended = statement;
    check(sqlite3_prepare_v2(db, "-- nothing", -1, &statement, NULL) == SQLITE_OK && statement == NULL);
    for (int round = 0; round < 2; round++) {
        sqlite3_finalize(NULL);
        sqlite3_reset(NULL);
        sqlite3_close(NULL);
    }
    if (breaks("ClosedWithStatements")) return 0;
    if (breaks("StatementUsedAfterFinalize")) sqlite3_reset(ended);
    if (breaks("ConnectionLeftOpen")) return 0;
    sqlite3_close(db);
    if (breaks("ConnectionUsedAfterClose")) (void)sqlite3_changes(db);
    return 0;
}
