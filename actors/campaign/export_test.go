package campaign

// Held counts the contacts of whom it is remembered what holds them.
func (a *Campaign) Held() int { return len(a.heldBy) }
