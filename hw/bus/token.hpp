// HW_TOKEN(field, ...): declares the fields of a token in order, so that tests and tools can pack, compare and print
// any token without knowing its type. Fields are Bits, Psn or tokens; a Tag is not listed.
#pragma once

#define HW_TOKEN(...)                        \
  template <class Visitor>                   \
  void visit_fields(Visitor&& visit) {       \
    visit(#__VA_ARGS__, __VA_ARGS__);        \
  }                                          \
  template <class Visitor>                   \
  void visit_fields(Visitor&& visit) const { \
    visit(#__VA_ARGS__, __VA_ARGS__);        \
  }
