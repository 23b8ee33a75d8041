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
    if (breaks("ClosedWithStatements")) check(sqlite3_close(db) == SQLITE_BUSY);
    if (breaks("StatementLeftOpen")) return 0;
    sqlite3_finalize(statement);
    if (breaks("StatementUsedAfterFinalize")) sqlite3_reset(statement);
    if (breaks("ConnectionLeftOpen")) return 0;
    sqlite3_close(db);
    if (breaks("ConnectionUsedAfterClose")) (void)sqlite3_changes(db);
    return 0;
}
