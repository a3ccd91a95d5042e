"""What people see: folds of turn events and stored values into neutral views. Pure; no clock, no I/O."""
