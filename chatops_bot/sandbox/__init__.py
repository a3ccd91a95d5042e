"""Where scripts of skills run, so that they can do no harm: bubblewrap, system call filter, limits, and the probe of all that."""
