"""The tournament of an experiment that measures every pair of hosts: the slow hosts and links in words and charts."""
