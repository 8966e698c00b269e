//! Copyback: a simulator of NAND flash drives and of what garbage collection costs their users.
