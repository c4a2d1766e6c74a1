package alert

import (
	"slices"

	"github.com/callboard/callboard/domain"
)

// Findings holds the readings of one alert rule for the workspaces of one shard, or of several shards after Add.
type Findings struct {
	Readings []Reading `json:"readings,omitempty"`
	Unread   []string  `json:"unread,omitempty"` // workspaces that did not answer
	// Silent is true if Unread contains workspaces of a shard that did not answer. The calls and the spend of these
	// workspaces are then missing in the sums.
	Silent bool `json:"silent,omitempty"`
	// Sums over the workspaces of the shard, for a rule that counts all workspaces together.
	Attempts int64         `json:"attempts,omitempty"`
	Answered int64         `json:"answered,omitempty"`
	Spent    domain.Amount `json:"spent,omitempty"`
	Most     domain.Amount `json:"most,omitempty"`
}

// Add adds the findings of another shard.
func (l *Findings) Add(o Findings) {
	l.Readings = append(l.Readings, o.Readings...)
	l.Unread = append(l.Unread, o.Unread...)
	l.Attempts += o.Attempts
	l.Answered += o.Answered
	l.Spent, l.Most = l.Spent.Plus(o.Spent), l.Most.Plus(o.Most)
	l.Silent = l.Silent || o.Silent
}

// PeerFindings holds the findings of the other shards.
type PeerFindings struct {
	Found    []map[string]Findings         // by rule ID
	Silent   func(workspaceID string) bool // whether the shard of a workspace did not answer
	Complete bool                          // all shards answered
}

// RuleForPeers returns the parts of a rule that other shards need for their readings.
func RuleForPeers(r *domain.AlertRule) *domain.AlertRule {
	return &domain.AlertRule{
		Meta: domain.Meta{ID: r.ID}, Kind: r.Kind, WatchesWorkspaceID: r.WatchesWorkspaceID, Together: r.Together, Below: r.Below, MinCalls: r.MinCalls, Minutes: r.Minutes, Share: r.Share,
	}
}

// Results returns the readings of a rule for all shards, and the IDs of the workspaces without a reading. An empty ID
// means the reading for all workspaces together.
func (l *Findings) Results(r *domain.AlertRule) ([]Reading, []string) {
	if !r.Together {
		return l.Readings, l.Unread
	}
	const name = "all workspaces together"
	in := AnswerRateReading(r, "", AllWorkspaces, name, int(l.Attempts), int(l.Answered))
	if r.Kind == domain.AlertSpend {
		in = SpendReading(r, "", AllWorkspaces, name, l.Spent, l.Most)
	}
	if len(l.Unread) > 0 && (!in.Bad || l.Silent) { // the missing workspaces could change the result
		return nil, []string{in.WorkspaceID}
	}
	return []Reading{in}, nil
}

// WatchesWorkspace reports whether a rule covers a workspace.
func WatchesWorkspace(r *domain.AlertRule, workspaceID string) bool {
	return r.WatchesWorkspaceID == "" || r.WatchesWorkspaceID == workspaceID
}

// RulesForWorkspaces returns the rules that cover all workspaces, or a workspace for which is returns true.
func RulesForWorkspaces(rules []*domain.AlertRule, is func(workspaceID string) bool) []*domain.AlertRule {
	return slices.DeleteFunc(slices.Clone(rules), func(r *domain.AlertRule) bool { return r.WatchesWorkspaceID != "" && !is(r.WatchesWorkspaceID) })
}
