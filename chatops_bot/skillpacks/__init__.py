"""Where skills come from: folders, archives and git. What is read here was written by others, and none of it is trusted."""
