extern "C" int top(int n) {
  int a[n];  // finding: alloca
  a[0] = 1;
  return a[0];
}
