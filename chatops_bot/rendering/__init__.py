"""What people see: pure functions from events and times to views."""
