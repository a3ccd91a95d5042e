"""The HTTP face. `app` holds the table of routes; one module a resource holds their handlers."""
