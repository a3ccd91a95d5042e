"""`chatops-bot doctor`: what is well and what is not, a line each, with what to do. Changes nothing, beside a running bot too."""
