package domain

// AbandonedCall is a call of a process that ended whose dialogs may ring or talk yet.
// The row is there before the attempt is closed, and goes when each dialog has
// answered for its end or has had the time to: whatever ends the next process
// meanwhile, the one after it ends them too, and until then keeps their lines.
type AbandonedCall struct {
	CallID      string       `json:"call_id"`
	WorkspaceID string       `json:"workspace_id"`
	Environment Environment  `json:"environment"`
	CampaignID  string       `json:"campaign_id,omitempty"`
	Direction   Direction    `json:"direction"`
	Number      string       `json:"number,omitempty"` // of the far end; "": its call is not known
	Legs        []AttemptLeg `json:"legs"`             // those without a final answer
}

// AbandonedCallOf is what an attempt leaves behind that was open when its process
// ended; nil: none of its legs can be alive.
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

// Key names the row.
func (o *AbandonedCall) Key() Key { return Key{"orphan", o.WorkspaceID, o.CallID} }

// Indexes: one list of all of them.
func (o *AbandonedCall) Indexes() []string { return []string{"left"} }

// Sort is by call.
func (o *AbandonedCall) Sort() string { return o.CallID }
