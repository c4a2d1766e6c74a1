package ask

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// NodeLoad is how an operator's node does, and what all workspaces do.
type NodeLoad struct {
	Object     string       `json:"object"`
	AsOf       time.Time    `json:"as_of" doc:"When the workspaces were asked: up to a second ago."`
	Ready      bool         `json:"ready" doc:"As /readyz tells."`
	Reason     string       `json:"reason,omitempty" doc:"Why it is not ready."`
	Drain      DrainNow     `json:"drain" doc:"Whether an operator has drained the node."`
	Dialling   DiallingNow  `json:"dialling" doc:"Whether an operator has stopped all dialling."`
	Workspaces int          `json:"workspaces" doc:"How many there are, on all nodes."`
	Silent     int          `json:"workspaces_silent" doc:"Those of them that did not answer within two seconds, or whose part of the work no node has; what they do is missing in the sums."`
	LiveCalls  int          `json:"live_calls" doc:"Calls that have a line, in and out, those of the test environment included."`
	Lines      LinesNow     `json:"lines" doc:"The lines of all workspaces."`
	LastMinute Activity     `json:"last_minute" doc:"What was done within the last minute."`
	SpentToday domain.Money `json:"spent_today" doc:"What the outbound calls of the day have cost so far, in UTC, the live ones included."`
	SpentKnown bool         `json:"spent_known" doc:"false: what some workspace spent before the service started is still being read, or it did not answer; spent_today is less than all."`
	Trunks     TrunkCounts  `json:"trunks" doc:"All trunks, by their health."`
	Noisy      []NoisyShare `json:"noisy" doc:"The ten workspaces that take the largest part of anything, the largest first."`
}

// NodeNow is a node that lives, as an operator sees it.
type NodeNow struct {
	Object     string     `json:"object"`
	ID         string     `json:"id" doc:"New at every start of the process."`
	Address    string     `json:"address,omitempty" doc:"host:port by which the other nodes reach it; missing where the process is alone."`
	SIP        string     `json:"sip,omitempty" doc:"host:port of its SIP."`
	Version    string     `json:"version,omitempty" doc:"Of the program."`
	StartedAt  *time.Time `json:"started_at,omitempty" doc:"By its own clock."`
	Here       bool       `json:"here" doc:"true: it has the operator's own workspace. What is said without a node is said to it."`
	Leaving    bool       `json:"leaving" doc:"true: it is being stopped, and gives what it has away."`
	Ready      bool       `json:"ready" doc:"As /readyz tells of what it has. true of one that has nothing."`
	Reason     string     `json:"reason,omitempty" doc:"Why it is not ready."`
	Drain      DrainNow   `json:"drain" doc:"Whether an operator has drained it."`
	Shards     int        `json:"shards" doc:"How many parts of the work it has. One without any stands by, or has just joined."`
	Silent     int        `json:"shards_silent" doc:"Those of them that did not answer; what they do is missing here."`
	Workspaces int        `json:"workspaces" doc:"How many workspaces it has."`
	LiveCalls  int        `json:"live_calls" doc:"Calls that have a line there, in and out."`
	LastMinute Activity   `json:"last_minute" doc:"What was done there within the last minute."`
}

// DrainNow says whether the node takes no calls because an operator wants it so.
type DrainNow struct {
	On    bool          `json:"on" doc:"true: no call begins on this node, in or out; live ones go on."`
	Since *time.Time    `json:"since" doc:"Since when; null while it is not drained."`
	By    *domain.Actor `json:"by" doc:"Who has drained it."`
}

// DiallingNow says whether an operator has stopped all dialling.
type DiallingNow struct {
	Stopped bool          `json:"stopped" doc:"true: nobody is rung, in no workspace; live calls go on."`
	Reason  string        `json:"reason" doc:"What the operator has said about it."`
	Since   *time.Time    `json:"since" doc:"Since when; null while people may be rung."`
	By      *domain.Actor `json:"by" doc:"Who has stopped it."`
}

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

// Most is the largest of them.
func (s Shares) Most() float64 { return max(s.Calls, s.Commits, s.Requests) }

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

// AlertTest is what came of a test of an alert rule.
type AlertTest struct {
	AlertID string          `json:"alert_id" doc:"Of the alert that is none."`
	EventID string          `json:"event_id" doc:"The alert.firing that was committed: webhooks that take it are on their way."`
	Mails   []AlertMailTest `json:"mails" doc:"One for each address."`
}

// AlertMailTest is what came of one mail.
type AlertMailTest struct {
	To    string `json:"to" doc:"The address."`
	Sent  bool   `json:"sent" doc:"true: the mail server has taken it."`
	Error string `json:"error,omitempty" doc:"Why not."`
}
