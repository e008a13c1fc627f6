"""Putting slimguard into hosts and taking it out again: what each host's file looks like, edits that keep every other
byte, backups and a journal. It never prints a value of a user's file, and never touches a file that it cannot parse."""
