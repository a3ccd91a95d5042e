"""Separate programs that stand in for what the bot talks to; they import nothing of the bot."""
