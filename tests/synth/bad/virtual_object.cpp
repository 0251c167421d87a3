struct Base {  // finding: virtual
  virtual int f() const { return 1; }
};
struct Derived : Base {  // finding: virtual
  int f() const override { return 2; }
};
extern "C" int top() {
  Derived d;
  return d.Base::f();
}
