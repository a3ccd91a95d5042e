"""Values, state tables and errors of the bot. Imports nothing of ours and does no I/O."""
