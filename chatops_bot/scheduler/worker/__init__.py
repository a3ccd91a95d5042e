"""The program side that runs payloads. It speaks to the scheduler over HTTP only, so it can move to another host."""
