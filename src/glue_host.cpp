// Interrupts and progress: R functions that the core calls during long computations.
#include <Rcpp.h>

#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace glue {

namespace {
void check_interrupt(void*) { R_CheckUserInterrupt(); }

bool interrupted() { return R_ToplevelExec(check_interrupt, nullptr) == FALSE; }
}  // namespace

Interruptible::Interruptible()
    : Watch([timer = IntervalTimer()]() mutable {
        if (timer.has_elapsed() && interrupted()) throw Rcpp::internal::InterruptedException();
        return true;
      }) {}

Interruptible::Interruptible(const Function& tick)
    : Watch([tick, timer = IntervalTimer()]() mutable {
        if (!timer.has_elapsed()) return true;
        if (interrupted()) throw Rcpp::internal::InterruptedException();
        tick();
        return true;
      }) {}

Host host(const Function& tick) {
  Host core_host;
  core_host.tick = [tick](std::size_t done) {
    if (interrupted()) return false;
    tick(static_cast<double>(done));
    return true;
  };
  return core_host;
}

}  // namespace glue
