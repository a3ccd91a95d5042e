"""A ChatOps bot for Slack and Feishu that proposes changes and runs only what a person approved."""
