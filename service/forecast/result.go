package forecast

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// Assumptions are what the called are taken to do in a simulation. The rates
// are shares of 0 to 1; what they leave of 1 does not answer.
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

// ForecastRequest asks for a simulation.
type ForecastRequest struct {
	StartAt time.Time // zero: now
	Seed    uint64
	Assume  func(Assumptions) Assumptions // puts what was sent over what is known
}

// AssumedFrom says where the assumptions of a simulation come from, before
// what was sent is put over them.
type AssumedFrom string

// The sources.
const (
	AssumedHistory  AssumedFrom = "history"  // the workspace's latest campaign calls
	AssumedDefaults AssumedFrom = "defaults" // there are too few of these
)

// SimulatedHour is how many calls begin in an hour.
type SimulatedHour struct {
	Hour  time.Time `json:"hour"`
	Calls int       `json:"calls"`
}

// SimulatedMonth is what a campaign adds to the bill of a month.
type SimulatedMonth struct {
	Month    string       `json:"month"` // YYYY-MM in UTC
	Attempts int          `json:"attempts"`
	Included int          `json:"included"`
	Overage  int          `json:"overage"`
	Amount   domain.Money `json:"amount"`
}

// SimulatedCost is what a campaign adds to the bill.
type SimulatedCost struct {
	Attempts int              `json:"attempts"`
	Included int              `json:"included"`
	Overage  int              `json:"overage"`
	Amount   domain.Money     `json:"amount"`
	Months   []SimulatedMonth `json:"months"`
}

// Simulation is how a campaign would go.
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
