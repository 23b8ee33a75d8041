namespace store {
struct Cursor {
    long at;
    void step(int by);
    bool done() const;
    void end();
};
Cursor *begin(long key);
int guarded(Cursor &cursor);
}
