package webhooks

// TestResult is the result of a test delivery.
type TestResult struct {
	EventID        string `json:"event_id"`
	Delivered      bool   `json:"delivered"`
	ResponseStatus int    `json:"response_status"`
	ResponseTimeMs int64  `json:"response_time_ms"`
	Error          string `json:"error,omitempty"`
}
