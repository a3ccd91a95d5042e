"""`python -m chatops_bot` is the command `chatops-bot`."""

from chatops_bot.app.cli import main

main()
