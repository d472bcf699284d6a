"""The loops around a kernel: start, step, certificate, stop."""
