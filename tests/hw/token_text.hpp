// Tokens as text, so that a failed comparison names the fields that differ: "qpn=0x7 psn=0x2 ...".
#pragma once
#include <sstream>
#include <string>

#include "hw/bus/psn.hpp"

namespace test {

template <int N>
void print_field(std::ostream& out, const hw::Bits<N>& x) {
  out << "0x" << std::hex;
  for (int i = hw::Bits<N>::kWords - 1; i >= 0; i--) out << x.w[i] << (i > 0 ? "_" : "");
}
inline void print_field(std::ostream& out, const hw::Psn& x) {
  print_field(out, x.v);
}

template <class Token>
void print_field(std::ostream& out, const Token& token) {
  token.visit_fields([&out](const char* names, const auto&... fields) {
    std::istringstream list(names);
    const auto print_one = [&](const auto& field) {
      std::string name;
      std::getline(list >> std::ws, name, ',');
      out << name << '=';
      print_field(out, field);
      out << ' ';
    };
    (print_one(fields), ...);
  });
}

template <class Token>
std::string text(const Token& token) {
  std::ostringstream out;
  print_field(out, token);
  return out.str();
}

}  // namespace test
