package lines

// ExpiryChecks counts how often something was looked at that may have ended.
func (l *Lines) ExpiryChecks() int { return int(l.expiryChecks.Load()) }
