"""What the model may do: one door, and one wrapper a policy around it."""
