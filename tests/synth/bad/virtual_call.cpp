struct Shape {
  virtual int area() const = 0;
};
extern "C" int top(const Shape& s) {
  return s.area();  // finding: indirect
}
