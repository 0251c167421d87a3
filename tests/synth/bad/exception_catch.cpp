int outside(int x);

extern "C" int top(int x) {
  try {
    return outside(x);  // finding: call
  } catch (int) {       // finding: exception
    return 0;
  }  // finding: exception
}
