package lines

// ExpiryChecks returns how many permits the actor has checked for expiry so far.
func (l *Lines) ExpiryChecks() int { return int(l.expiryChecks.Load()) }
