"""What one model call sees: prompt, history, fences, follow-up rule. Pure: values in, values out."""
