// what is named twice is asked for twice as often
