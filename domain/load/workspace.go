package load

import (
	"github.com/callboard/callboard/domain"
)

// LinesNow are the lines of one workspace, or of all of them.
type LinesNow struct {
	Outbound LineUse `json:"outbound" doc:"Calls that go out, live environment."`
	Inbound  LineUse `json:"inbound" doc:"Calls that come in, both environments."`
	Test     LineUse `json:"test" doc:"Calls that go out in the test environment, to the built-in carrier."`
}

// LineUse are the lines of one direction.
type LineUse struct {
	Used    int `json:"used" doc:"Taken by calls that live, are about to be placed, or may have outlived a crash."`
	Limit   int `json:"limit" doc:"As many as the plan allows at a time."`
	Waiting int `json:"waiting" doc:"Lines that campaigns and bulk jobs wait for."`
}

// Add counts others in.
func (l *LineUse) Add(o LineUse) {
	l.Used += o.Used
	l.Limit += o.Limit
	l.Waiting += o.Waiting
}

// Activity is what was done within the last minute.
type Activity struct {
	Calls    int `json:"calls" doc:"Calls that began, in and out."`
	Commits  int `json:"commits" doc:"Changes of the store."`
	Requests int `json:"requests" doc:"Requests of the API that were counted against its limit."`
}

// Add counts others in.
func (a *Activity) Add(o Activity) {
	a.Calls += o.Calls
	a.Commits += o.Commits
	a.Requests += o.Requests
}

// Shares are parts of what all workspaces do, each from 0 to 1.
type Shares struct {
	Calls    float64 `json:"calls" doc:"Of the calls that began within the last minute, 0 to 1."`
	Commits  float64 `json:"commits" doc:"Of the changes of the store, 0 to 1."`
	Requests float64 `json:"requests" doc:"Of the requests of the API, 0 to 1."`
}

// Largest is the largest of them.
func (s Shares) Largest() float64 { return max(s.Calls, s.Commits, s.Requests) }

// NoisyShare is the part that a workspace takes of what all do.
type NoisyShare struct {
	WorkspaceID string `json:"workspace_id"`
	Name        string `json:"name"`
	Shares
}

// TrunkCounts counts trunks by their health.
type TrunkCounts struct {
	Up       int `json:"up" doc:"Trunks that do their work, or were not tried yet."`
	Degraded int `json:"degraded" doc:"Trunks of which a target is out, that back off, or of which an alarm is on."`
	Down     int `json:"down" doc:"Trunks of which every target is out."`
}

// TrunkTrouble is a trunk that is not well.
type TrunkTrouble struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	Environment domain.Environment `json:"environment"`
	Status      string             `json:"status" enum:"degraded,down" doc:"degraded, or down: every target is out."`
	LastError   string             `json:"last_error,omitempty" doc:"What went wrong last."`
}

// WorkspaceLoad is how one workspace does.
type WorkspaceLoad struct {
	Object         string         `json:"object"`
	ID             string         `json:"id"`
	Name           string         `json:"name"`
	Plan           domain.Plan    `json:"plan" doc:"starter, professional or enterprise."`
	Silent         bool           `json:"silent" doc:"true: it did not answer within two seconds; what is not known is 0."`
	LiveCalls      int            `json:"live_calls" doc:"Calls that have a line, in and out."`
	Lines          LinesNow       `json:"lines" doc:"Its lines."`
	CallsPerMinute int            `json:"calls_per_minute" doc:"As many calls as may begin in a minute."`
	LastMinute     Activity       `json:"last_minute" doc:"What it did within the last minute."`
	Share          Shares         `json:"share" doc:"Which part that is of what all workspaces did."`
	SpentToday     domain.Money   `json:"spent_today" doc:"What its outbound calls of the day have cost so far, in UTC."`
	SpentKnown     bool           `json:"spent_known" doc:"false: what it spent before the service started is still being read, or it did not answer; spent_today is less than all."`
	DailySpendCap  *domain.Money  `json:"daily_spend_cap" doc:"What they may cost; null: there is no cap."`
	Trunks         TrunkCounts    `json:"trunks" doc:"Its trunks, by their health."`
	Troubles       []TrunkTrouble `json:"troubles" doc:"The trunks that are not well, at most twenty, those that are down first."`
}
