"""A terminal as a chat platform: threads that a person on this machine reads as they grow."""
