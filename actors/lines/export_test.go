package lines

// Looks counts how often something was looked at that may have ended.
func (l *Lines) Looks() int { return int(l.looks.Load()) }
