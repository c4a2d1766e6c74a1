package domain

import "time"

// CallAnalysis is the result of the analysis of a transcript by a language model.
type CallAnalysis struct {
	Summary string         `json:"summary,omitempty"`
	Success *bool          `json:"success"` // whether success_criteria of the agent were met; nil: the agent has none
	Reason  string         `json:"success_reason,omitempty"`
	Fields  map[string]any `json:"fields"`          // fields of the agent's analysis that were found
	Error   string         `json:"error,omitempty"` // why the analysis failed
	At      time.Time      `json:"analyzed_at"`
}

// IsEnabled reports whether the agent asks for any analysis of its calls.
func (a *AgentAnalysis) IsEnabled() bool {
	return a != nil && (a.Summary || a.SuccessCriteria != "" || len(a.Fields) > 0)
}

// AnalysisDue is a pending analysis of a call. It is committed with the end of the call and deleted in the commit
// of the result.
type AnalysisDue struct {
	CallID      string        `json:"call_id"`
	WorkspaceID string        `json:"workspace_id"`
	LLM         *AgentLLM     `json:"llm,omitempty"`
	Wanted      AgentAnalysis `json:"wanted"`
	Tries       int           `json:"tries"`
}

// Key returns the key of the pending analysis in the store.
func (a *AnalysisDue) Key() Key { return Key{"analysis_due", a.WorkspaceID, a.CallID} }

// Indexes returns the index of all pending analyses.
func (a *AnalysisDue) Indexes() []string { return []string{"todo"} }

// Sort returns the call ID.
func (a *AnalysisDue) Sort() string { return a.CallID }
