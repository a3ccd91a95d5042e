"""What the hot paths cost, as ratios within one run: `python -m bench`. Absolute times say more about the machine than about us."""
