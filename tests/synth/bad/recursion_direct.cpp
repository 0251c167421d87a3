extern "C" unsigned top(unsigned n) {
  return n == 0 ? 1 : n * top(n - 1);  // finding: recursion
}
