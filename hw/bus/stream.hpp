// hls::stream<T>: the only connection between stages (rule 2 of the stage contract, docs/architecture.md).
//
//   empty() full() read() write(v)      one writer, one reader, never blocking, no peek
//
// Three bodies: a bounded ring whose tokens carry the cycle in which they become readable (simulation), a struct of
// port wires (open synthesis), the vendor's own (Vitis). A stage may call each of read() and write() once a step on
// each stream, and only when empty() or full() said false; the simulation body checks it and names the offender.
#pragma once
#include "bits.hpp"

#if defined(__SYNTHESIS__)
#include <hls_stream.h>
#elif defined(HW_LOWER)
#include "stream_ports.hpp"
#else
#include "stream_ring.hpp"
#endif
