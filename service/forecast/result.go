package forecast

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// Assumptions are the assumed outcomes and durations of calls in a forecast. Each rate is a share of the calls from
// 0 to 1, and all rates add up to 1.
type Assumptions struct {
	AnswerRate       float64 `json:"answer_rate"`
	VoicemailRate    float64 `json:"voicemail_rate"`
	BusyRate         float64 `json:"busy_rate"`
	FailedRate       float64 `json:"failed_rate"`
	NoAnswerRate     float64 `json:"no_answer_rate"`
	RingSeconds      float64 `json:"ring_seconds"`
	NoAnswerSeconds  float64 `json:"no_answer_seconds"`
	TalkSeconds      float64 `json:"talk_seconds"`
	VoicemailSeconds float64 `json:"voicemail_seconds"`
}

// Request are the options of a forecast.
type Request struct {
	StartAt time.Time // zero: now
	Seed    uint64
	Assume  func(Assumptions) Assumptions // overrides some of the estimated assumptions
}

// AssumedFrom is the source of the assumptions of a forecast, before the values in the request override them.
type AssumedFrom string

// The sources of assumptions.
const (
	AssumedHistory  AssumedFrom = "history"  // recent campaign calls of the workspace
	AssumedDefaults AssumedFrom = "defaults" // defaults, because there are too few campaign calls
)

// SimulatedHour is the number of simulated calls that start in an hour.
type SimulatedHour struct {
	Hour  time.Time `json:"hour"`
	Calls int       `json:"calls"`
}

// SimulatedMonth is the estimated cost of a campaign in one month.
type SimulatedMonth struct {
	Month    string       `json:"month"` // YYYY-MM in UTC
	Attempts int          `json:"attempts"`
	Included int          `json:"included"`
	Overage  int          `json:"overage"`
	Amount   domain.Money `json:"amount"`
}

// SimulatedCost is the estimated cost of a campaign.
type SimulatedCost struct {
	Attempts int              `json:"attempts"`
	Included int              `json:"included"`
	Overage  int              `json:"overage"`
	Amount   domain.Money     `json:"amount"`
	Months   []SimulatedMonth `json:"months"`
}

// Simulation is the forecast of a campaign.
type Simulation struct {
	CampaignID       string                 `json:"campaign_id,omitempty"`
	StartsAt         time.Time              `json:"starts_at"`
	CompletesAt      *time.Time             `json:"completes_at"`
	CompletionReason string                 `json:"completion_reason,omitempty"`
	Contacts         int                    `json:"contacts"`
	Attempts         int                    `json:"attempts"`
	Outcomes         map[domain.Outcome]int `json:"outcomes"`
	Skipped          domain.Skipped         `json:"skipped"`
	Expired          int                    `json:"expired"`
	PeakConcurrent   int                    `json:"peak_concurrent"`
	TalkMinutes      float64                `json:"talk_minutes"`
	CallsPerHour     []SimulatedHour        `json:"calls_per_hour"`
	Cost             SimulatedCost          `json:"cost"`
	Pacing           domain.Pacing          `json:"pacing"`
	Assumptions      Assumptions            `json:"assumptions"`
	AssumedFrom      AssumedFrom            `json:"assumed_from"`
}
