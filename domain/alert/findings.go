package alert

import (
	"slices"

	"github.com/callboard/callboard/domain"
)

// Findings is what one part of an install has found of a rule.
type Findings struct {
	Readings []Reading `json:"readings,omitempty"`
	Unread   []string  `json:"unread,omitempty"` // workspaces that did not answer
	// Silent says that some of Unread are of a part that did not answer at all:
	// what they may add to a rule that takes all together is not known either.
	Silent bool `json:"silent,omitempty"`
	// What its workspaces add to a rule that takes all of them together: calls
	// and money.
	Attempts int64         `json:"attempts,omitempty"`
	Answered int64         `json:"answered,omitempty"`
	Spent    domain.Amount `json:"spent,omitempty"`
	Most     domain.Amount `json:"most,omitempty"`
}

// Add counts another part in.
func (l *Findings) Add(o Findings) {
	l.Readings = append(l.Readings, o.Readings...)
	l.Unread = append(l.Unread, o.Unread...)
	l.Attempts += o.Attempts
	l.Answered += o.Answered
	l.Spent, l.Most = l.Spent.Plus(o.Spent), l.Most.Plus(o.Most)
	l.Silent = l.Silent || o.Silent
}

// PeerFindings are what other parts have found.
type PeerFindings struct {
	Found    []map[string]Findings         // by the id of the rule
	Silent   func(workspaceID string) bool // whether a workspace is of a part that did not answer
	Complete bool                          // all have answered that were asked
}

// RuleForPeers is what of a rule others have to know to look.
func RuleForPeers(r *domain.AlertRule) *domain.AlertRule {
	return &domain.AlertRule{
		Meta: domain.Meta{ID: r.ID}, Kind: r.Kind, WatchesWorkspaceID: r.WatchesWorkspaceID, Together: r.Together, Below: r.Below, MinCalls: r.MinCalls, Minutes: r.Minutes, Share: r.Share,
	}
}

// Results is what was found of a rule, by all parts: the readings, and the
// workspaces of which nothing is known, "" for all together.
func (l *Findings) Results(r *domain.AlertRule) ([]Reading, []string) {
	if !r.Together {
		return l.Readings, l.Unread
	}
	const name = "all workspaces together"
	in := AnswerRateReading(r, "", AllWorkspaces, name, int(l.Attempts), int(l.Answered))
	if r.Kind == domain.AlertSpend {
		in = SpendReading(r, "", AllWorkspaces, name, l.Spent, l.Most)
	}
	if len(l.Unread) > 0 && (!in.Bad || l.Silent) { // whoever did not answer may make it bad, or good
		return nil, []string{in.WorkspaceID}
	}
	return []Reading{in}, nil
}

// WatchesWorkspace says whether a rule is about a workspace.
func WatchesWorkspace(r *domain.AlertRule, workspaceID string) bool {
	return r.WatchesWorkspaceID == "" || r.WatchesWorkspaceID == workspaceID
}

// RulesForWorkspaces are the rules that are about any workspace of which is says so.
func RulesForWorkspaces(rules []*domain.AlertRule, is func(workspaceID string) bool) []*domain.AlertRule {
	return slices.DeleteFunc(slices.Clone(rules), func(r *domain.AlertRule) bool { return r.WatchesWorkspaceID != "" && !is(r.WatchesWorkspaceID) })
}
