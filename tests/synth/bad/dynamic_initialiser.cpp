struct Odd {
  int v;
  Odd() : v(1) { v += v; }
};

int unrelated = 1;
Odd odd;  // finding: initialiser

extern "C" int top() { return odd.v; }
