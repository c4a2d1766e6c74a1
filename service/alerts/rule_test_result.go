package alerts

// AlertTest is the result of a test of an alert rule.
type AlertTest struct {
	AlertID string          `json:"alert_id" doc:"Of the alert that is none."`
	EventID string          `json:"event_id" doc:"The alert.firing that was committed: webhooks that take it are on their way."`
	Mails   []AlertMailTest `json:"mails" doc:"One for each address."`
}

// AlertMailTest is the result of one mail.
type AlertMailTest struct {
	To    string `json:"to" doc:"The address."`
	Sent  bool   `json:"sent" doc:"true: the mail server has taken it."`
	Error string `json:"error,omitempty" doc:"Why not."`
}
