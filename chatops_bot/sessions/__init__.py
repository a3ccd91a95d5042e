"""Conversations: who gets an answer, one turn at a time, and what happens to proposals."""
