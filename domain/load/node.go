package load

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

// DrainNow reports whether the node takes no calls because an operator wants it so.
type DrainNow struct {
	On    bool          `json:"on" doc:"true: no call begins on this node, in or out; live ones go on."`
	Since *time.Time    `json:"since" doc:"Since when; null while it is not drained."`
	By    *domain.Actor `json:"by" doc:"Who has drained it."`
}

// DiallingNow reports whether an operator has stopped all dialling.
type DiallingNow struct {
	Stopped bool          `json:"stopped" doc:"true: nobody is rung, in no workspace; live calls go on."`
	Reason  string        `json:"reason" doc:"What the operator has said about it."`
	Since   *time.Time    `json:"since" doc:"Since when; null while people may be rung."`
	By      *domain.Actor `json:"by" doc:"Who has stopped it."`
}

// sumWorkspaces adds up what all workspaces do.
func (l *NodeLoad) sumWorkspaces(rows []*WorkspaceLoad) {
	l.Workspaces, l.SpentKnown = len(rows), true
	spent := domain.Amount(0)
	for _, w := range rows {
		l.SpentKnown = l.SpentKnown && w.SpentKnown
		if w.Silent {
			l.Silent++
		}
		l.LiveCalls += w.LiveCalls
		l.Lines.Outbound.Add(w.Lines.Outbound)
		l.Lines.Inbound.Add(w.Lines.Inbound)
		l.Lines.Test.Add(w.Lines.Test)
		l.LastMinute.Add(w.LastMinute)
		l.Trunks.Up += w.Trunks.Up
		l.Trunks.Degraded += w.Trunks.Degraded
		l.Trunks.Down += w.Trunks.Down
		if micros, err := domain.ParseAmount(w.SpentToday.Amount); err == nil {
			spent = spent.Plus(micros)
		}
	}
	l.SpentToday = domain.Dollars(spent)
}
