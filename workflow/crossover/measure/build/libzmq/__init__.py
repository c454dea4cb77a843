"""Builds libzmq with message structs of other sizes than its own.

If that fails, the library's file holds the reason as text. A launch that needs the library is refused with that reason,
and everything else goes on.
"""
