package billing

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// UsageQuery is a stretch of days in UTC, both included.
type UsageQuery struct{ From, To time.Time }

// MaxUsageDays bounds a UsageQuery.
const MaxUsageDays = 366

// Used is what was used in a stretch of time, and what it costs by the tariff
// under which each attempt was opened.
type Used struct {
	Attempts        int          `json:"attempts"`
	Included        int          `json:"included"`
	Overage         int          `json:"overage"`
	Amount          domain.Money `json:"amount"`
	Minutes         float64      `json:"minutes"`
	OutboundSeconds int          `json:"outbound_seconds"`
	InboundCalls    int          `json:"inbound_calls"`
	InboundSeconds  int          `json:"inbound_seconds"`
	SMS             int          `json:"sms"`
	Segments        int          `json:"sms_segments"`
	SMSAmount       domain.Money `json:"sms_amount"`
	TotalAmount     domain.Money `json:"total_amount"`
}

// UsedOn is the use of one day.
type UsedOn struct {
	Day string `json:"day"`
	Used
}

// UsedIn is the use of one month, as far as it was asked for.
type UsedIn struct {
	Month string `json:"month"`
	Used
}

// Usage is the use of a stretch of days; days on which nothing was used are
// left out.
type Usage struct {
	Object      string             `json:"object"`
	Environment domain.Environment `json:"environment"`
	From        string             `json:"from"`
	To          string             `json:"to"`
	Plan        domain.Plan        `json:"plan"`
	Total       Used               `json:"total"`
	Months      []UsedIn           `json:"months"`
	Days        []UsedOn           `json:"days"`
}
