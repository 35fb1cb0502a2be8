"""The commands, loaded one module at a time by the tables of their groups; each is named as on the command line."""
