static unsigned odd(unsigned n);
static unsigned even(unsigned n) {
  if (n == 0) return 1;
  return odd(n - 1);  // finding: recursion
}
static unsigned odd(unsigned n) {
  if (n == 0) return 0;
  return even(n - 1);  // finding: recursion
}
extern "C" unsigned top(unsigned n) { return even(n); }
