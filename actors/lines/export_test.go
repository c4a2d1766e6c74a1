package lines

// ExpiryChecks returns how many leases and holds were checked for expiry.
func (l *Lines) ExpiryChecks() int { return int(l.expiryChecks.Load()) }
