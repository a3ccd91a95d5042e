"""Slack. Read `inbound.py` first (what comes in), then `outbound.py` (what goes out), `blocks.py` (how it looks).

The same adapter serves Slack itself and any workspace that speaks its API: only the base URL differs.
"""
