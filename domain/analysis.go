package domain

import "time"

// CallAnalysis is what a model found in what was said in a call.
type CallAnalysis struct {
	Summary string         `json:"summary,omitempty"`
	Success *bool          `json:"success"` // by the agent's success_criteria; null: it has none
	Reason  string         `json:"success_reason,omitempty"`
	Fields  map[string]any `json:"fields"`          // those of the agent's that were found
	Error   string         `json:"error,omitempty"` // why there is no analysis
	At      time.Time      `json:"analyzed_at"`
}

// IsEnabled says whether anything is to be known of a call.
func (a *AgentAnalysis) IsEnabled() bool {
	return a != nil && (a.Summary || a.SuccessCriteria != "" || len(a.Fields) > 0)
}

// AnalysisDue is an analysis that is still to be made: it is committed with the
// end of its call, and goes with the commit of what was found.
type AnalysisDue struct {
	CallID      string        `json:"call_id"`
	WorkspaceID string        `json:"workspace_id"`
	LLM         *AgentLLM     `json:"llm,omitempty"`
	Wanted      AgentAnalysis `json:"wanted"`
	Tries       int           `json:"tries"`
}

// Key names the row.
func (a *AnalysisDue) Key() Key { return Key{"analysis_due", a.WorkspaceID, a.CallID} }

// Indexes: what is to be done.
func (a *AnalysisDue) Indexes() []string { return []string{"todo"} }

// Sort is by call.
func (a *AnalysisDue) Sort() string { return a.CallID }
