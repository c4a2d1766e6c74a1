package event

import (
	"encoding/json"
	"strings"

	"github.com/callboard/callboard/domain"
)

// About is what an event says of who and what it concerns; empty where it does
// not say.
type About struct {
	AgentID    string
	CampaignID string
	Direction  domain.Direction
	From, To   string // numbers, E.164
}

// Of reads what an event is about from its subject and its payload.
func Of(e *Event) About {
	var data struct {
		AgentID    string           `json:"agent_id"`
		CampaignID string           `json:"campaign_id"`
		Direction  domain.Direction `json:"direction"`
		From       string           `json:"from"`
		To         string           `json:"to"`
		Phone      string           `json:"phone"`
	}
	_ = json.Unmarshal(e.Data, &data) // another shape says nothing of these
	a := About{AgentID: data.AgentID, CampaignID: data.CampaignID, Direction: data.Direction, From: data.From, To: data.To}
	switch {
	case a.CampaignID == "" && strings.HasPrefix(e.Subject, string(domain.PrefixCampaign)+"_"):
		a.CampaignID = e.Subject
	case a.AgentID == "" && strings.HasPrefix(e.Subject, string(domain.PrefixAgent)+"_"):
		a.AgentID = e.Subject
	}
	if a.From == "" {
		a.From = data.Phone
	}
	return a
}
