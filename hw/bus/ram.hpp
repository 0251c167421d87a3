// Ram<T, N> and RamForward<T, N>: the memories of a stage, N rows of T (rule 4 of the stage contract).
//
//   request(a)   once a step: fetch row a          write(a, v)   once a step          data()   the row fetched last
//
// data() in cycle c is the row of the last request made before c. In a Ram it is the row as it stood at the start of
// the request's cycle; later writes do not change it. In a RamForward it is the row as it stands at the start of c, so
// it follows every write before c, also while it is held: back-to-back packets of one QP need that. Neither sees a
// write of its own step. Contents are zero at configuration.
#pragma once
#include "bits.hpp"

#if defined(__SYNTHESIS__)
#include "ram_vendor.hpp"
#elif defined(HW_LOWER)
#include "ram_ports.hpp"
#else
#include "ram_model.hpp"
#endif
