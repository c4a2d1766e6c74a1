package campaign

// HeldContacts returns the number of contacts for which the decision log has recorded delaying rules.
func (a *Campaign) HeldContacts() int { return len(a.decisions.held) }

// DueChecks returns how many attempts and dialogs the actor has examined so far for passed time limits.
func (a *Campaign) DueChecks() int { return int(a.dueChecks.Load()) }
