package domain

// AbandonedCall is a call of a stopped process whose SIP dialogs may still exist at the carrier. It is stored before the
// call's Attempt is deleted. It is deleted when each dialog has been ended or has timed out, and until then the call
// counts as a concurrent call. If the process stops again, the next process continues to end the dialogs.
type AbandonedCall struct {
	CallID      string       `json:"call_id"`
	WorkspaceID string       `json:"workspace_id"`
	Environment Environment  `json:"environment"`
	CampaignID  string       `json:"campaign_id,omitempty"`
	Direction   Direction    `json:"direction"`
	Number      string       `json:"number,omitempty"` // number of the remote party; empty: unknown
	Legs        []AttemptLeg `json:"legs"`             // legs without a final response
}

// AbandonedCallOf returns the abandoned call for an Attempt that was open when its process stopped. It returns nil if
// all SIP legs of the call have ended.
func AbandonedCallOf(a *Attempt) *AbandonedCall {
	o := &AbandonedCall{
		CallID: a.CallID, WorkspaceID: a.WorkspaceID, Environment: a.Environment, CampaignID: a.CampaignID, Direction: a.Direction,
	}
	for _, leg := range a.Legs {
		if !leg.Closed {
			o.Legs = append(o.Legs, leg)
		}
	}
	if len(o.Legs) == 0 {
		return nil
	}
	return o
}

// Key returns the key of the abandoned call in the store.
func (o *AbandonedCall) Key() Key { return Key{"orphan", o.WorkspaceID, o.CallID} }

// Indexes returns the index of all abandoned calls.
func (o *AbandonedCall) Indexes() []string { return []string{"left"} }

// Sort returns the call ID.
func (o *AbandonedCall) Sort() string { return o.CallID }
