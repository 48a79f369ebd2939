// Interrupts and progress: what the core asks of R while it works.
#include <Rcpp.h>

#include "glue.h"

namespace glue {

namespace {
void check_interrupt(void*) { R_CheckUserInterrupt(); }

bool interrupted() { return R_ToplevelExec(check_interrupt, nullptr) == FALSE; }
}  // namespace

Interruptible::Interruptible()
    : Watch([patience = fallible::Patience()]() mutable {
        if (patience.over() && interrupted()) throw Rcpp::internal::InterruptedException();
        return true;
      }) {}

Interruptible::Interruptible(const Rcpp::Function& tick)
    : Watch([tick, patience = fallible::Patience()]() mutable {
        if (!patience.over()) return true;
        if (interrupted()) throw Rcpp::internal::InterruptedException();
        tick();
        return true;
      }) {}

fallible::Host host(const Rcpp::Function& tick) {
  fallible::Host out;
  out.tick = [tick](std::size_t done) {
    if (interrupted()) return false;
    tick(static_cast<double>(done));
    return true;
  };
  return out;
}

}  // namespace glue
