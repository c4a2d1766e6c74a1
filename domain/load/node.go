package load

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// NodeLoad is the load of the node that answers an operator, and of all workspaces.
type NodeLoad struct {
	Object     string           `json:"object"`
	AsOf       time.Time        `json:"as_of" doc:"Time of the numbers: up to one second ago."`
	Ready      bool             `json:"ready" doc:"Whether the node is ready, as in /readyz."`
	Reason     string           `json:"reason,omitempty" doc:"Why the node is not ready."`
	Drain      DrainNow         `json:"drain" doc:"Whether an operator has drained the node."`
	Dialling   DiallingNow      `json:"dialling" doc:"Whether an operator has stopped all dialing."`
	Workspaces int              `json:"workspaces" doc:"Number of workspaces on all nodes."`
	Silent     int              `json:"workspaces_silent" doc:"Number of workspaces that did not answer within two seconds or whose shard has no node. The sums do not include them."`
	LiveCalls  int              `json:"live_calls" doc:"Number of live calls, inbound and outbound, including the test environment."`
	Lines      ConcurrentCalls  `json:"lines" doc:"Concurrent calls of all workspaces."`
	LastMinute Activity         `json:"last_minute" doc:"Activity of all workspaces within the last minute."`
	SpentToday domain.Money     `json:"spent_today" doc:"Cost of today's outbound calls, including live calls. The day is in UTC."`
	SpentKnown bool             `json:"spent_known" doc:"false: spent_today is incomplete. The amounts of a workspace before the start of the service are still being read, or a workspace did not answer."`
	Trunks     TrunkCounts      `json:"trunks" doc:"Number of trunks of all workspaces by health."`
	Noisy      []WorkspaceShare `json:"noisy" doc:"The ten workspaces with the largest share of calls, commits or requests, in descending order."`
}

// NodeNow is the current state of a running node as an operator sees it.
type NodeNow struct {
	Object     string     `json:"object"`
	ID         string     `json:"id" doc:"The id of the process. It changes with every start."`
	Address    string     `json:"address,omitempty" doc:"host:port that the other nodes connect to. Missing if there is only one node."`
	SIP        string     `json:"sip,omitempty" doc:"host:port for SIP."`
	Version    string     `json:"version,omitempty" doc:"Version of the program."`
	StartedAt  *time.Time `json:"started_at,omitempty" doc:"Start of the process by the clock of the node."`
	Here       bool       `json:"here" doc:"true: the node has the operator's own workspace. Requests without a node apply to this node."`
	Leaving    bool       `json:"leaving" doc:"true: the node is stopping and hands its shards over."`
	Ready      bool       `json:"ready" doc:"Whether all shards of the node are ready, as in /readyz. true for a node without shards."`
	Reason     string     `json:"reason,omitempty" doc:"Why the node is not ready."`
	Drain      DrainNow   `json:"drain" doc:"Whether an operator has drained the node."`
	Shards     int        `json:"shards" doc:"Number of shards of the node. 0: the node is on standby or has just joined."`
	Silent     int        `json:"shards_silent" doc:"Number of shards of the node that did not answer. The other numbers do not include them."`
	Workspaces int        `json:"workspaces" doc:"Number of workspaces of the node."`
	LiveCalls  int        `json:"live_calls" doc:"Number of live calls on the node, inbound and outbound."`
	LastMinute Activity   `json:"last_minute" doc:"Activity on the node within the last minute."`
}

// DrainNow reports whether an operator has drained the node.
type DrainNow struct {
	On    bool          `json:"on" doc:"true: no inbound or outbound call starts on this node. Live calls continue."`
	Since *time.Time    `json:"since" doc:"Time of the drain. null: the node is not drained."`
	By    *domain.Actor `json:"by" doc:"The credential that drained the node."`
}

// DiallingNow reports whether an operator has stopped all dialing.
type DiallingNow struct {
	Stopped bool          `json:"stopped" doc:"true: no outbound call starts in any workspace. Live calls continue."`
	Reason  string        `json:"reason" doc:"The reason that the operator gave."`
	Since   *time.Time    `json:"since" doc:"Time of the stop. null: dialing is allowed."`
	By      *domain.Actor `json:"by" doc:"The credential that stopped dialing."`
}

// sumWorkspaces sets the fields that are sums over all workspaces.
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
