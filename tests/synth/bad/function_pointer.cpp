extern "C" int top(int (*f)(int), int x) {
  return f(x);  // finding: indirect
}
