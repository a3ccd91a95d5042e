"""Chat platforms behind the `Platform` and `Directory` ports, a package each."""
