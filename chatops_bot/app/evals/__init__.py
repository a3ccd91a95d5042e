"""Cases that the bot is measured by: run, recorded from threads, and imported from public sets."""
