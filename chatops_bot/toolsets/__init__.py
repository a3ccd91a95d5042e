"""Tools by back end. Each toolset stands alone: it knows the ports and its own back end, never another toolset."""
