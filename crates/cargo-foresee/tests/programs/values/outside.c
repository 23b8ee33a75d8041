// Code that is built without foresee.
void outside_add(int *at) { *at += 1; }
