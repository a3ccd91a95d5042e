"""The loop: ask the model, run its tool calls through the one door, feed the results back, until it makes no call."""
