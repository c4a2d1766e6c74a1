package campaign

// Held counts the contacts of whom it is remembered what holds them.
func (a *Campaign) Held() int { return len(a.decisions.held) }

// Looks counts how often something was looked at that may have been due.
func (a *Campaign) Looks() int { return int(a.dueChecks.Load()) }
