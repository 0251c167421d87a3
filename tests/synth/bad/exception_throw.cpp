extern "C" int top(int x) {
  if (x > 5) throw 1;  // finding: exception
  return x;
}
