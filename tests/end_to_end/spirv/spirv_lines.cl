// Line 3 reads, and line 8 writes beyond the buffer's end.
int twice(global const int *from, int i) {
  return from[i] * 2;
}

kernel void beyond(global int *to, global const int *from) {
  int i = get_global_id(0);
  to[i + 100000000] = twice(from, i);
}
