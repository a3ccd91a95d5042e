"""Where sessions, proposals and the audit live between two breaths of the process."""
