extern "C" int top() {
  static int calls = 0;  // finding: static
  return ++calls;
}
