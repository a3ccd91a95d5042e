"""The door: configuration, wiring, process life, command line. The only room that knows all rooms, and the only reader of env."""
