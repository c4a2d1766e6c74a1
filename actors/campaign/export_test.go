package campaign

// HeldContacts returns the number of contacts with recorded holds.
func (a *Campaign) HeldContacts() int { return len(a.decisions.held) }

// DueChecks returns how many entries were examined because something might be due.
func (a *Campaign) DueChecks() int { return int(a.dueChecks.Load()) }
