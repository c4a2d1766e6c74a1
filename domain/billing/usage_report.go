package billing

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// UsageQuery selects a range of UTC days, including both ends.
type UsageQuery struct{ From, To time.Time }

// MaxUsageDays limits the length of a UsageQuery.
const MaxUsageDays = 366

// UsageTotals is the usage in a period and its cost. The price of a call attempt is that of the tariff at its start.
type UsageTotals struct {
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

// DayUsage is the usage of one day.
type DayUsage struct {
	Day string `json:"day"`
	UsageTotals
}

// MonthUsage is the usage of one month, limited to the requested range.
type MonthUsage struct {
	Month string `json:"month"`
	UsageTotals
}

// Usage is the usage in a range of days. Days without usage are omitted.
type Usage struct {
	Object      string             `json:"object"`
	Environment domain.Environment `json:"environment"`
	From        string             `json:"from"`
	To          string             `json:"to"`
	Plan        domain.Plan        `json:"plan"`
	Total       UsageTotals        `json:"total"`
	Months      []MonthUsage       `json:"months"`
	Days        []DayUsage         `json:"days"`
}
