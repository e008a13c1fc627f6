"""What `slimguard demo` runs: a small shop as an upstream server, and the tour through the guard before it."""
