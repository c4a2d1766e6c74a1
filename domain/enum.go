package domain

// values are the constants of a type as text, for documents and checks.
func values[T ~string](all ...T) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = string(v)
	}
	return out
}

// CallEnders are the values of ended_by: who ended a call.
func CallEnders() []string { return []string{EndedByAgent, EndedByRemote, EndedByAPI, EndedByService} }

// The values of ended_by and of a transfer's by.
const (
	EndedByAgent   = "agent"
	EndedByRemote  = "remote"
	EndedByAPI     = "api"
	EndedByService = "service"
)

// PauseReasons are the values of pause_reason: why the service paused a
// campaign. A campaign that the API paused has none.
func PauseReasons() []string {
	return []string{PausedByTrunkFailures, PausedWithoutScript, PausedByRestore}
}

// The values of pause_reason.
const (
	PausedByTrunkFailures = "trunk_failures"     // half of the latest calls failed in the trunk
	PausedWithoutScript   = "script_unavailable" // the agent or pathway cannot be read
	PausedByRestore       = "restored"           // the store was restored from a backup
)

// CompletionReasons are the values of completion_reason.
func CompletionReasons() []string { return []string{CompletedExhausted, CompletedWindowEnded} }

// The values of completion_reason.
const (
	CompletedExhausted   = "exhausted"    // every contact has a final state
	CompletedWindowEnded = "window_ended" // the end of the schedule came first
)

// AnswererClasses are the values of answered_by.
func AnswererClasses() []string {
	return []string{"human", "voicemail", "ivr", "call_screening", "fax", "unavailable", "unknown"}
}

// ContactStates are the values of a contact's status, in the stored order.
func ContactStates() []string { return append([]string(nil), contactWords[:]...) }
