package event

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// Attributes are the properties of an event by which webhook endpoints filter events. Unknown attributes are empty.
type Attributes struct {
	AgentID    string
	CampaignID string
	Direction  domain.Direction
	From, To   string // E.164
	// TraceParent is the traceparent header (W3C Trace Context) of the API request that caused the event.
	TraceParent string
}

// CallAttributes returns the attributes of all events of a call.
func CallAttributes(c *domain.Call) *Attributes {
	return &Attributes{AgentID: c.AgentID, CampaignID: c.CampaignID, Direction: c.Direction, From: c.From, To: c.To, TraceParent: c.TraceParent}
}

// CallDraft returns a draft of an event of type t about a call. id is the ID of the event.
func CallDraft(id string, c *domain.Call, t Type, data any, now time.Time) Draft {
	unit := c.AgentID
	if unit == "" {
		unit = c.WorkspaceID
	}
	d := Draft{
		ID: id, Type: t, CreatedAt: now, WorkspaceID: c.WorkspaceID,
		Environment: c.Environment, SvcID: domain.UnitID(unit), Subject: c.ID, Data: data,
	}
	switch data.(type) {
	case CallData, CallEndedData: // these payloads contain all attributes except the trace context
		if c.TraceParent == "" {
			return d
		}
	}
	d.Attributes = CallAttributes(c)
	return d
}

// AttributesOf returns the attributes of an event. The attributes stored with the event take precedence over its
// payload and its subject. The agent in the payload takes precedence, because a call can have several agents.
func AttributesOf(e *Event) Attributes {
	var data struct {
		AgentID    string           `json:"agent_id"`
		CampaignID string           `json:"campaign_id"`
		Direction  domain.Direction `json:"direction"`
		From       string           `json:"from"`
		To         string           `json:"to"`
		Phone      string           `json:"phone"`
	}
	_ = json.Unmarshal(e.Data, &data) // payloads of another form have none of these fields
	a := Attributes{AgentID: data.AgentID, CampaignID: data.CampaignID, Direction: data.Direction, From: cmp.Or(data.From, data.Phone), To: data.To}
	if e.Attributes != nil {
		a = Attributes{
			AgentID: cmp.Or(a.AgentID, e.Attributes.AgentID), CampaignID: cmp.Or(e.Attributes.CampaignID, a.CampaignID),
			Direction: cmp.Or(e.Attributes.Direction, a.Direction), From: cmp.Or(e.Attributes.From, a.From), To: cmp.Or(e.Attributes.To, a.To),
		}
	}
	switch {
	case a.CampaignID == "" && strings.HasPrefix(e.Subject, string(domain.PrefixCampaign)+"_"):
		a.CampaignID = e.Subject
	case a.AgentID == "" && strings.HasPrefix(e.Subject, string(domain.PrefixAgent)+"_"):
		a.AgentID = e.Subject
	}
	return a
}
